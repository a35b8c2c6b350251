#include "support/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"

static void need(bool ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    abort();
}

/* Reads until `text` holds `length` bytes, or a head when that is 0; false at the end. */
static bool read_until(int fd, struct text *text, size_t length)
{
    char piece[65536];
    while (length ? text->length < length : !strstr(text_cstr(text), "\r\n\r\n")) {
        ssize_t count = recv(fd, piece, sizeof(piece), 0);
        if (count <= 0)
            return false;
        text_append(text, piece, (size_t)count);
    }
    return true;
}

static size_t body_length(const char *head)
{
    static const char name[] = "\r\ncontent-length:";
    const char *found = strcasestr(head, name);
    return found ? strtoul(found + sizeof(name) - 1, NULL, 10) : 0;
}

static void send_all(int fd, const struct text *text)
{
    for (size_t sent = 0; sent < text->length;) {
        ssize_t count = send(fd, text->data + sent, text->length - sent, MSG_NOSIGNAL);
        if (count <= 0)
            return;
        sent += (size_t)count;
    }
}

static void answer(struct loopback *loopback, int fd, const struct text *body)
{
    struct text events = TEXT_INIT;
    struct text response = TEXT_INIT;
    loopback->answer(loopback->self, loopback->count - 1, body, &events);
    text_printf(&response,
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %zu\r\n\r\n",
                events.length);
    text_append(&response, events.data, events.length);
    send_all(fd, &response);
    text_release(&events);
    text_release(&response);
}

static bool serve_one(struct loopback *loopback, int fd)
{
    struct text received = TEXT_INIT;
    bool ok = read_until(fd, &received, 0);
    if (ok) {
        size_t head = (size_t)(strstr(received.data, "\r\n\r\n") - received.data) + 4;
        size_t length = body_length(received.data);
        ok = read_until(fd, &received, head + length);
        need(array_grow(&loopback->bodies, &loopback->capacity, loopback->count, 1,
                        sizeof(*loopback->bodies)),
             "memory");
        struct text *body = &loopback->bodies[loopback->count++];
        *body = (struct text)TEXT_INIT;
        if (ok)
            text_append(body, received.data + head, length);
        if (ok)
            answer(loopback, fd, body);
    }
    text_release(&received);
    return ok;
}

static void *serve(void *self)
{
    struct loopback *loopback = self;
    int fd;
    while ((fd = accept(loopback->listener, NULL, NULL)) >= 0) {
        int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        while (serve_one(loopback, fd)) {
        }
        close(fd);
    }
    return NULL;
}

void loopback_open(struct loopback *loopback)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    loopback->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    need(loopback->listener >= 0, "socket");
    need(!bind(loopback->listener, (struct sockaddr *)&address, sizeof(address)), "bind");
    need(!getsockname(loopback->listener, (struct sockaddr *)&address, &length), "getsockname");
    need(!listen(loopback->listener, 4), "listen");
    loopback->port = ntohs(address.sin_port);
    need(!pthread_create(&loopback->thread, NULL, serve, loopback), "thread");
}

void loopback_close(struct loopback *loopback)
{
    shutdown(loopback->listener, SHUT_RDWR);
    pthread_join(loopback->thread, NULL);
    close(loopback->listener);
    for (size_t i = 0; i < loopback->count; i++)
        text_release(&loopback->bodies[i]);
    free(loopback->bodies);
}
