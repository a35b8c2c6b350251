#include "provider/http_host.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/secret.h"

#define CA_DIRECTORY "/etc/ssl/certs"
#define CA_BUNDLE    CA_DIRECTORY "/ca-certificates.crt"

/* "127.1.2.3", "[::1]", "localhost" or a name below it, with or without a port. */
static bool is_loopback(const char *host)
{
    char name[256];
    struct in_addr address;
    if (strncmp(host, "[::1]", 5) == 0)
        return true;
    size_t length = strcspn(host, ":");
    if (length >= sizeof(name))
        return false;
    memcpy(name, host, length);
    name[length] = '\0';
    if (inet_pton(AF_INET, name, &address) == 1)
        return ntohl(address.s_addr) >> 24 == 127;
    const char *dot = strrchr(name, '.');
    return strcasecmp(dot ? dot + 1 : name, "localhost") == 0;
}

static bool set_url(struct http_host *host, const char *base_url, const char *path)
{
    const char *start = strstr(base_url, "://");
    start = start ? start + 3 : base_url;
    size_t length = strcspn(start, "/");
    const char *at = memrchr(start, '@', length);
    if (at) {
        const char *password = memchr(start, ':', (size_t)(at - start));
        const char *secret = password ? password + 1 : start;
        if (!secret_add(secret, (size_t)(at - secret)))
            return false;
        length -= (size_t)(at + 1 - start);
        start = at + 1;
    }
    text_append(&host->name, start, length);
    text_printf(&host->url, "%s%s", base_url, path);
    host->is_loopback = is_loopback(text_cstr(&host->name));
    return !host->name.failed && !host->url.failed;
}

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
static bool set_certificates(struct http_host *host)
{
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
        text_puts(&host->ca_file, file);
    if (directory)
        text_puts(&host->ca_directory, directory);
    return !host->ca_file.failed && !host->ca_directory.failed;
}

bool http_host_init(struct http_host *host, const char *base_url, const char *path)
{
    *host = (struct http_host){0};
    return set_url(host, base_url, path) && set_certificates(host);
}

void http_host_release(struct http_host *host)
{
    text_release(&host->name);
    text_release(&host->url);
    text_release(&host->ca_file);
    text_release(&host->ca_directory);
}
