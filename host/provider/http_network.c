#include "provider/http_network.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/secret.h"

#define CA_DIRECTORY "/etc/ssl/certs"
#define CA_BUNDLE    CA_DIRECTORY "/ca-certificates.crt"
#define HERE         "localhost,127.0.0.1,127.0.0.0/8,::1"

/* ---- certificates ---- */

/* Whether certificates are found there by the hash in the name of their file. */
static bool is_hashed(const char *directory)
{
    DIR *listing = opendir(directory);
    const struct dirent *entry;
    bool found = false;
    while (listing && !found && (entry = readdir(listing)))
        found =
            strspn(entry->d_name, "0123456789abcdef") == 8 && strcmp(entry->d_name + 8, ".0") == 0;
    if (listing)
        closedir(listing);
    return found;
}

static const char *named_file(const struct network_settings *settings, const char **from)
{
    static const char *const names[] = {"CURL_CA_BUNDLE", "SSL_CERT_FILE"};
    const char *file = settings->ca_file;
    *from = "--ca-file";
    for (size_t i = 0; !file && i < sizeof(names) / sizeof(*names); i++) {
        file = environment_get(names[i]);
        *from = names[i];
    }
    return file;
}

/* libcurl does not look at the variables.  A hashed directory costs least: only the
 * certificates that are needed are read, not the whole bundle. */
static void find_certificates(struct http_network *network, const struct network_settings *settings)
{
    const char *from = NULL;
    const char *file = named_file(settings, &from);
    const char *directory = settings->ca_file ? NULL : environment_get("SSL_CERT_DIR");
    if (file || directory) {
        network->ca_from = file ? from : "SSL_CERT_DIR";
    } else if (is_hashed(CA_DIRECTORY)) {
        directory = CA_DIRECTORY;
    } else if (access(CA_BUNDLE, R_OK) == 0) {
        file = CA_BUNDLE;
    }
    text_puts(&network->ca_file, file ? file : "");
    text_puts(&network->ca_directory, directory ? directory : "");
}

/* ---- proxies ---- */

/* As libcurl reads it: without a scheme it is one of HTTP.  NULL: it is none, or no memory. */
static CURLU *parse(const struct curl_api *api, const char *proxy)
{
    CURLU *url = api->url();
    if (url && api->url_set(url, CURLUPART_URL, proxy,
                            CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME) == CURLUE_OK)
        return url;
    api->url_cleanup(url);
    return NULL;
}

/* A part of it, to be given to api->free; NULL: it has none. */
static char *part(const struct curl_api *api, CURLU *url, CURLUPart which)
{
    char *value = NULL;
    return api->url_get(url, which, &value, 0) == CURLUE_OK ? value : NULL;
}

static void wipe(const struct curl_api *api, char *value)
{
    if (value)
        explicit_bzero(value, strlen(value));
    api->free(value);
}

/* The password, or what stands alone in its place: a name beside one is often that of the user's
 * folder too, and what is secret is cut out of all that a tool says.  What cannot be read may hold a
 * password anywhere. */
static bool hide(const struct curl_api *api, const char *proxy)
{
    CURLU *url = parse(api, proxy);
    if (!url)
        return secret_add(proxy, strlen(proxy));
    char *user = part(api, url, CURLUPART_USER);
    char *password = part(api, url, CURLUPART_PASSWORD);
    const char *secret = password ? password : user;
    bool hidden = !secret || secret_add_encoded(secret, strlen(secret));
    wipe(api, user);
    wipe(api, password);
    api->url_cleanup(url);
    return hidden;
}

static bool hide_variables(const struct curl_api *api)
{
    static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                        "ALL_PROXY"};
    bool hidden = true;
    for (size_t i = 0; hidden && i < sizeof(names) / sizeof(*names); i++) {
        const char *value = environment_get(names[i]);
        hidden = !value || hide(api, value);
    }
    return hidden;
}

static bool is_known_scheme(const struct curl_api *api, CURLU *url)
{
    static const char *const known[] = {"http",    "https",  "socks4",
                                        "socks4a", "socks5", "socks5h"};
    char *scheme = part(api, url, CURLUPART_SCHEME);
    bool found = false;
    for (size_t i = 0; scheme && !found && i < sizeof(known) / sizeof(*known); i++)
        found = strcasecmp(scheme, known[i]) == 0;
    api->free(scheme);
    return found;
}

/* The message does not quote it: it may hold a password. */
static bool name_proxy(struct http_network *network, const char *proxy, struct error *error)
{
    const struct curl_api *api = network->api;
    network->proxy_named = true;
    if (!*proxy || strcmp(proxy, "none") == 0)
        return true;
    CURLU *url = parse(api, proxy);
    bool known = url && is_known_scheme(api, url);
    api->url_cleanup(url);
    if (!known)
        return error_set(error, ERROR_CONFIG,
                         "the proxy that --proxy names is no URL of a proxy; write "
                         "http://HOST:PORT, https://HOST:PORT or socks5h://HOST:PORT, or 'none'");
    text_puts(&network->proxy, proxy);
    return hide(api, proxy) || error_memory(error);
}

/* The list of the user and this machine.  A list that is "*" alone is every server. */
static void find_no_proxy(struct http_network *network)
{
    const char *list = environment_get("no_proxy");
    if (!list)
        list = environment_get("NO_PROXY");
    if (list)
        text_puts(&network->no_proxy, list);
    if (!list || strcmp(list, "*") != 0)
        text_printf(&network->no_proxy, "%s" HERE, list ? "," : "");
}

/* ---- all of it ---- */

bool http_network_init(struct http_network *network, const struct curl_api *api,
                       const struct network_settings *settings, struct error *error)
{
    *network = (struct http_network){.api = api};
    find_certificates(network, settings);
    find_no_proxy(network);
    if (settings->proxy && !name_proxy(network, settings->proxy, error))
        return false;
    if (!hide_variables(api) || network->ca_file.failed || network->ca_directory.failed ||
        network->proxy.failed || network->no_proxy.failed)
        return error_memory(error);
    return true;
}

void http_network_release(struct http_network *network)
{
    text_release(&network->ca_file);
    text_release(&network->ca_directory);
    text_wipe(&network->proxy);
    text_release(&network->no_proxy);
}

bool http_network_apply(const struct http_network *network, CURL *easy)
{
    CURLcode (*set)(CURL *, CURLoption, ...) = network->api->easy_setopt;
    if (network->ca_file.length || network->ca_directory.length) {
        const char *file = network->ca_file.length ? network->ca_file.data : NULL;
        const char *directory = network->ca_directory.length ? network->ca_directory.data : NULL;
        /* With both of libcurl's defaults every connection reads the whole bundle.  A TLS library may
         * know no folders; but without memory others would be trusted than those that were named. */
        if (set(easy, CURLOPT_CAINFO, file) == CURLE_OUT_OF_MEMORY ||
            set(easy, CURLOPT_CAPATH, directory) == CURLE_OUT_OF_MEMORY ||
            set(easy, CURLOPT_PROXY_CAINFO, file) == CURLE_OUT_OF_MEMORY ||
            set(easy, CURLOPT_PROXY_CAPATH, directory) == CURLE_OUT_OF_MEMORY)
            return false;
    }
    return (!network->proxy_named ||
            set(easy, CURLOPT_PROXY, text_cstr(&network->proxy)) == CURLE_OK) &&
           set(easy, CURLOPT_NOPROXY, network->no_proxy.data) == CURLE_OK;
}

/* ---- for messages ---- */

/* The variables of a URL in libcurl's order.  It passes over HTTP_PROXY, which in a CGI program
 * is a header of the request. */
static const char *named_by(const char *url, const char **from)
{
    static const char *const http[] = {"http_proxy", "all_proxy", "ALL_PROXY", NULL};
    static const char *const https[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
                                        NULL};
    const char *const *names = strncasecmp(url, "https:", 6) == 0 ? https : http;
    const char *value = NULL;
    for (; !value && *names; names++) {
        *from = *names;
        value = environment_get(*names);
    }
    return value;
}

void http_proxy_find(struct http_proxy *proxy, const struct http_network *network, const char *url)
{
    const struct curl_api *api = network->api;
    const char *from = "--proxy";
    const char *value = network->proxy_named ? text_cstr(&network->proxy) : named_by(url, &from);
    *proxy = (struct http_proxy){0};
    if (!value || !*value)
        return;
    proxy->from = from;
    CURLU *parsed = parse(api, value);
    if (!parsed)
        return;
    char *host = part(api, parsed, CURLUPART_HOST);
    char *port = part(api, parsed, CURLUPART_PORT);
    char *user = part(api, parsed, CURLUPART_USER);
    text_puts(&proxy->name, host ? host : "");
    if (port)
        text_printf(&proxy->name, ":%s", port);
    proxy->has_user = user != NULL;
    api->free(host);
    api->free(port);
    api->free(user);
    api->url_cleanup(parsed);
}

void http_proxy_release(struct http_proxy *proxy)
{
    text_release(&proxy->name);
}
