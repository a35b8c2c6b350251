#include "web.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

static void need(bool ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    abort();
}

static bool put(int fd, const void *data, size_t length)
{
    const char *bytes = data;
    while (length > 0) {
        ssize_t n = send(fd, bytes, length, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        bytes += n;
        length -= (size_t)n;
    }
    return true;
}

static bool answer(int fd, const char *status, const char *headers, const void *body, size_t length)
{
    char head[4096];
    int n = snprintf(head, sizeof(head), "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n", status,
                     headers, length);
    return put(fd, head, (size_t)n) && put(fd, body, length);
}

static bool put_endlessly(int fd, const char *head, const char *piece)
{
    bool open = put(fd, head, strlen(head));
    while (open)
        open = put(fd, piece, strlen(piece));
    return false;
}

static bool put_text(int fd, const char *text)
{
    return put(fd, text, strlen(text));
}

static bool put_stream(int fd)
{
    static const char *const pieces[] = {"3\r\none\r\n", "3\r\ntwo\r\n", "5\r\nthree\r\n"};
    bool ok = put_text(fd, "HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n"
                           "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                           "Transfer-Encoding: chunked\r\nTrailer: X-Late\r\n\r\n");
    for (size_t i = 0; i < 3 && ok; i++) {
        usleep(20000);
        ok = put_text(fd, pieces[i]);
    }
    return ok && put_text(fd, "0\r\nX-Late: 1\r\n\r\n");
}

static bool put_bytes(int fd, size_t count)
{
    char *bytes = malloc(count + 1);
    memset(bytes, 'x', count + 1);
    bool ok = answer(fd, "200 OK", "", bytes, count);
    free(bytes);
    return ok;
}

/* `request` is all of it; false: the connection is to be closed. */
static bool serve_path(int fd, const char *path, const char *request, size_t length)
{
    static const unsigned char packed[] = {
        0x1f, 0x8b, 0x08, 0,    0,    0,    0,    0,    0x02, 0x03, 0x2b, 0xcd, 0x2b, 0x48,
        0x4c, 0xce, 0x4e, 0x4d, 0x01, 0x00, 0x96, 0x62, 0x2f, 0xca, 0x08, 0,    0,    0};
    char line[2048], byte;
    if (strcmp(path, "/echo") == 0)
        return answer(fd, "200 OK",
                      "Content-Type: text/x\r\nX-Two:  a \r\nX-Latin: \xE4\r\nX-None:\r\n", request,
                      length);
    if (strncmp(path, "/bytes/", 7) == 0)
        return put_bytes(fd, strtoul(path + 7, NULL, 10));
    if (strcmp(path, "/endless") == 0)
        return put_endlessly(fd, "HTTP/1.1 200 OK\r\n\r\n", "0123456789abcdef");
    if (strcmp(path, "/heads") == 0)
        return put_endlessly(fd, "HTTP/1.1 200 OK\r\n", "X-More: 0123456789abcdef\r\n");
    if (strcmp(path, "/head") == 0)
        return put_endlessly(fd, "HTTP/1.1 200 OK\r\nX-More: ", "0123456789abcdef");
    if (strcmp(path, "/gzip") == 0)
        return answer(fd, "200 OK", "Content-Encoding: gzip\r\n", packed, sizeof(packed));
    if (strncmp(path, "/status/", 8) == 0) {
        snprintf(line, sizeof(line), "%.3s Told", path + 8);
        return answer(fd, line, "", "", 0);
    }
    if (strncmp(path, "/to/", 4) == 0) {
        snprintf(line, sizeof(line), "Location: %s\r\n", path + 4);
        return answer(fd, "302 Found", line, "moved", 5);
    }
    if (strcmp(path, "/stream") == 0)
        return put_stream(fd);
    if (strcmp(path, "/held") == 0)
        put_text(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
    while (recv(fd, &byte, 1, 0) > 0) /* "/held", "/silent" */
        continue;
    return false;
}

static size_t whole_length(const char *request)
{
    const char *end = strstr(request, "\r\n\r\n");
    const char *field = strcasestr(request, "\r\ncontent-length:");
    if (!end)
        return SIZE_MAX;
    return (size_t)(end - request) + 4 + (field && field < end ? strtoul(field + 17, NULL, 10) : 0);
}

static void *serve(void *data)
{
    int fd = (int)(intptr_t)data;
    static const size_t most = 1 << 20;
    char *request = calloc(1, most + 1);
    size_t length = 0;
    bool open = true;
    while (open) {
        ssize_t n = recv(fd, request + length, most - length, 0);
        if (n <= 0)
            break;
        length += (size_t)n;
        if (length < whole_length(request))
            continue;
        char path[2000] = "";
        sscanf(request, "%*s %1999s", path);
        open = serve_path(fd, path, request, length);
        memset(request, 0, length);
        length = 0;
    }
    free(request);
    close(fd);
    return NULL;
}

static void *take_connections(void *data)
{
    struct web *web = data;
    for (int fd; (fd = accept(web->listener, NULL, NULL)) >= 0;) {
        pthread_t thread;
        atomic_fetch_add(&web->connections, 1);
        need(pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd) == 0, "thread");
        pthread_detach(thread);
    }
    return NULL;
}

void web_open(struct web *web)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    atomic_init(&web->connections, 0);
    web->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    need(web->listener >= 0, "socket");
    need(bind(web->listener, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
    need(getsockname(web->listener, (struct sockaddr *)&address, &length) == 0, "getsockname");
    need(listen(web->listener, 16) == 0, "listen");
    web->port = ntohs(address.sin_port);
    need(pthread_create(&web->thread, NULL, take_connections, web) == 0, "thread");
}

void web_close(struct web *web)
{
    shutdown(web->listener, SHUT_RDWR);
    pthread_join(web->thread, NULL);
    close(web->listener);
}
