#include "provider/http_easy.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CA_DIRECTORY "/etc/ssl/certs"
#define CA_BUNDLE    CA_DIRECTORY "/ca-certificates.crt"

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

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* libcurl does not look at the variables.  A hashed directory costs least: only the
 * certificates that are needed are read, not the whole bundle. */
bool http_certificates_find(struct http_certificates *certificates)
{
    *certificates = (struct http_certificates){0};
    const char *file = variable("CURL_CA_BUNDLE");
    const char *directory = variable("SSL_CERT_DIR");
    if (!file)
        file = variable("SSL_CERT_FILE");
    if (!file && !directory) {
        if (is_hashed(CA_DIRECTORY))
            directory = CA_DIRECTORY;
        else if (access(CA_BUNDLE, R_OK) == 0)
            file = CA_BUNDLE;
    }
    if (file)
        text_puts(&certificates->file, file);
    if (directory)
        text_puts(&certificates->directory, directory);
    return !certificates->file.failed && !certificates->directory.failed;
}

void http_certificates_release(struct http_certificates *certificates)
{
    text_release(&certificates->file);
    text_release(&certificates->directory);
}

/* ---- a request ---- */

/* Also behind a redirect: a server must not send anybody to a file. */
static bool set_protocols(const struct curl_api *api, CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    if (api->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
        api->easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https") == CURLE_OK)
        return true;
#endif
/* An older library knows the numbers only. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    const long protocols = CURLPROTO_HTTP | CURLPROTO_HTTPS;
    return api->easy_setopt(easy, CURLOPT_PROTOCOLS, protocols) == CURLE_OK &&
           api->easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS, protocols) == CURLE_OK;
#pragma GCC diagnostic pop
}

bool http_easy_apply(const struct curl_api *api, const struct http_certificates *certificates,
                     CURL *easy)
{
    CURLcode (*set)(CURL *, CURLoption, ...) = api->easy_setopt;
    /* An older library may not know some of these; none is vital. */
    set(easy, CURLOPT_TCP_NODELAY, 1L);
    set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    set(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
    set(easy, CURLOPT_QUICK_EXIT, 1L); /* a cancel does not wait for a name server */
#endif
    if (certificates->file.length || certificates->directory.length) {
        /* With both of libcurl's defaults every connection reads the whole bundle. */
        set(easy, CURLOPT_CAINFO, certificates->file.data);
        set(easy, CURLOPT_CAPATH, certificates->directory.data);
    }
    return set_protocols(api, easy) &&
           /* Decodes; what is asked for may be in the headers. */
           set(easy, CURLOPT_ACCEPT_ENCODING, "") == CURLE_OK &&
           set(easy, CURLOPT_USERAGENT, "mortise/" MORTISE_VERSION) == CURLE_OK &&
           set(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
}
