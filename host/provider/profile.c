/* profile - what follows from a profile and the environment: its key and where its server is. */
#include "provider/provider.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/secret.h"
#include "provider/aws_credentials.h"

const char *const *profile_unsupported(const struct profile *profile)
{
    return profile->unsupported ? profile->unsupported : profile->wire->unsupported;
}

const char *profile_key(const struct profile *profile, const char **from)
{
    const char *const names[] = {profile->key_env, profile->key_env_too};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *key = names[i] ? getenv(names[i]) : NULL;
        if (!key || !*key)
            continue;
        if (from)
            *from = names[i];
        return key;
    }
    return NULL;
}

/* The bytes of a key end up in a header line. */
static bool check_key(const char *key, const char *from, struct error *error)
{
    for (const char *c = key; *c; c++)
        if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7F)
            return error_set(error, ERROR_CONFIG,
                             "the key in %s holds a space, a line break or another character that "
                             "no key has",
                             from);
    return secret_add(key, strlen(key)) || error_memory(error);
}

bool profile_take_key(const struct profile *profile, const char *given, const char **key,
                      const char **from, struct error *error)
{
    *from = "the configuration";
    *key = given ? given : profile_key(profile, from);
    if (*key && **key)
        return check_key(*key, *from, error);
    *key = NULL;
    return true;
}

static bool starts_with(const char *text, const char *start)
{
    return strncasecmp(text, start, strlen(start)) == 0;
}

/* Puts the ":11434" of a URL that has one. */
static void put_port(struct text *out, const char *url)
{
    const char *host = strstr(url, "://") + 3;
    const char *end = host + strcspn(host, "/");
    const char *colon = memrchr(host, ':', (size_t)(end - host));
    if (colon && colon[1] != ']' && strspn(colon + 1, "0123456789") == (size_t)(end - colon - 1))
        text_append(out, colon, (size_t)(end - colon));
}

/* "HOST" or "HOST:PORT" of a local server becomes a URL with the port of the profile.  A
 * server that listens on every address is reached at the local one. */
static void append_host(struct text *out, const struct profile *profile, const char *host)
{
    static const char any[] = "0.0.0.0";
    size_t length = strcspn(host, "/");
    size_t any_length = sizeof(any) - 1;
    if (starts_with(host, any) && (host[any_length] == ':' || length == any_length)) {
        text_puts(out, "http://127.0.0.1");
        host += any_length;
        length -= any_length;
    } else {
        text_puts(out, "http://");
    }
    const char *closed = memchr(host, ']', length); /* of an IPv6 address */
    const char *from = closed ? closed : host;
    text_append(out, host, length);
    if (!memchr(from, ':', length - (size_t)(from - host)))
        put_port(out, profile->base_url);
    text_puts(out, host + length);
}

static void strip(struct text *url, const char *end)
{
    size_t length = strlen(end);
    if (length && url->length > length &&
        memcmp(url->data + url->length - length, end, length) == 0) {
        url->length -= length;
        url->data[url->length] = '\0';
    }
}

static bool check_url(const char *url, const char *from, struct error *error)
{
    if (!starts_with(url, "http://") && !starts_with(url, "https://") &&
        !starts_with(url, "http+unix://"))
        return error_set(error, ERROR_CONFIG, "%s must begin with 'http://' or 'https://'", from);
    const char *host = strchr(url, ':') + 3;
    if (!*host || *host == '/' || *host == ':')
        return error_set(error, ERROR_CONFIG, "%s names no host", from);
    if (url[strcspn(url, "?#")])
        return error_set(error, ERROR_CONFIG, "%s may hold no '?' and no '#'", from);
    for (const char *c = url; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7F)
            return error_set(error, ERROR_CONFIG, "%s holds a space or a control character", from);
    return true;
}

static bool no_base_url(const struct profile *profile, struct error *error)
{
    return error_set(error, ERROR_CONFIG,
                     "it is not known where '%s' is; set %s, or use --base-url URL", profile->name,
                     profile->base_url_env ? profile->base_url_env : "'base_url' of its section");
}

/* Puts Amazon's region where the URL has a place for it. */
static bool put_region(struct text *url, struct error *error)
{
    static const char place[] = "{region}";
    const char *at = strstr(text_cstr(url), place);
    struct text region = TEXT_INIT, whole = TEXT_INIT;
    if (!at)
        return true;
    bool found = aws_region_find(&region, error);
    if (found) {
        text_append(&whole, url->data, (size_t)(at - url->data));
        text_puts(&whole, region.data);
        text_puts(&whole, at + strlen(place));
        text_release(url);
        *url = whole;
    }
    text_release(&region);
    return found;
}

bool profile_base_url(const struct profile *profile, const char *given, struct text *out,
                      struct error *error)
{
    const char *from = "the base URL";
    const char *url = given;
    if (!url && profile->base_url_env) {
        url = getenv(profile->base_url_env);
        from = profile->base_url_env;
    }
    if (!url || !*url)
        url = profile->base_url;
    if (!url)
        return no_base_url(profile, error);

    text_reset(out);
    if (!strstr(url, "://") && profile->base_url && starts_with(profile->base_url, "http://"))
        append_host(out, profile, url);
    else
        text_puts(out, url);
    while (out->length && out->data[out->length - 1] == '/')
        strip(out, "/");
    /* Many write the "/v1" although the variable leaves it out. */
    if (profile->base_url_suffix) {
        strip(out, profile->base_url_suffix);
        text_puts(out, profile->base_url_suffix);
    }
    if (url == profile->base_url && !put_region(out, error))
        return false;
    return out->failed ? error_memory(error) : check_url(text_cstr(out), from, error);
}
