#include "provider/profile_pairs.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/secret.h"
#include "config/key.h"
#include "provider/http_host.h"

/* From here on a value is rather a token than a word. */
#define SECRET_FROM_BYTES 16

static bool sounds_secret(const char *name)
{
    static const char *const words[] = {"auth", "cookie", "key", "pass", "secret", "token"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasestr(name, words[i]))
            return true;
    return false;
}

static void wipe(char *value)
{
    if (value)
        explicit_bzero(value, strlen(value));
    free(value);
}

/* A value ends up in a header line. */
static bool check_value(const char *value, struct error *error)
{
    for (const char *c = value; *c; c++)
        if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7F)
            return error_set(error, ERROR_CONFIG,
                             "its value holds a line break or another control "
                             "character");
    return true;
}

/* *value is malloc'ed. */
static bool read_value(const struct profile_pair *pair, char **value, struct error *error)
{
    *value = NULL;
    if (pair->from && !key_from_object(pair->from, "", value, error))
        return false;
    if (!pair->from && !(*value = strdup(pair->value)))
        return error_memory(error);
    size_t length = strlen(*value);
    bool is_secret = pair->from || length >= SECRET_FROM_BYTES || sounds_secret(pair->name);
    if (is_secret && !secret_add(*value, length))
        return error_memory(error);
    return check_value(*value, error);
}

static bool put_word(struct text *query, const char *name, const char *value)
{
    text_puts(query, query->length ? "&" : "");
    http_put_segment(query, name);
    text_putc(query, '=');
    http_put_segment(query, value);
    return !query->failed;
}

static bool read_query(const struct profile *profile, struct text *query, struct error *error)
{
    for (const struct profile_pair *pair = profile->query; pair && pair->name; pair++) {
        char *value;
        bool ok = read_value(pair, &value, error);
        if (!ok)
            error_prefix(error, "'%s' in the query of '%s'", pair->name, profile->name);
        else if (!put_word(query, pair->name, value))
            ok = error_memory(error);
        wipe(value);
        if (!ok)
            return false;
    }
    return true;
}

static bool read_header(const struct profile_pair *pair, char **line, struct error *error)
{
    char *value;
    bool ok = read_value(pair, &value, error);
    if (ok && asprintf(line, "%s: %s", pair->name, value) < 0) {
        *line = NULL;
        ok = error_memory(error);
    }
    wipe(value);
    return ok;
}

static bool read_headers(const struct profile *profile, char ***lines, struct error *error)
{
    size_t count = 0;
    while (profile->headers && profile->headers[count].name)
        count++;
    if (!count)
        return true;
    *lines = calloc(count + 1, sizeof(**lines));
    if (!*lines)
        return error_memory(error);
    for (size_t i = 0; i < count; i++)
        if (!read_header(&profile->headers[i], &(*lines)[i], error)) {
            error_prefix(error, "header '%s' of '%s'", profile->headers[i].name, profile->name);
            return false;
        }
    return true;
}

bool profile_pairs_read(const struct profile *profile, struct profile_pairs *pairs,
                        struct error *error)
{
    *pairs = (struct profile_pairs){0};
    return read_query(profile, &pairs->query, error) &&
           read_headers(profile, &pairs->headers, error);
}

void profile_pairs_release(struct profile_pairs *pairs)
{
    text_wipe(&pairs->query);
    for (size_t i = 0; pairs->headers && pairs->headers[i]; i++)
        wipe(pairs->headers[i]);
    free(pairs->headers);
    *pairs = (struct profile_pairs){0};
}
