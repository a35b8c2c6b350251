/*
 * bench_server - a model's server that costs nothing and looks at its clock.
 *
 *     bench_server FOLDER     prints {"port": N, "tls_port": N} and serves on 127.0.0.1 until its
 *                             input ends; the certificate is in the folder (bench_tls.h)
 *
 * It speaks HTTP/1.1 with kept connections and answers in the streamed form of the format that
 * the path belongs to (bench_answers.h).  The first part of the path says what, so that one
 * server does for all runs:
 *
 *     /text-N/v1/chat/completions     an answer of N small deltas
 *     /burst-N/…                      the same in large writes: the client wakes up rarely
 *     /line-N/…                       an answer of one delta of N kilobytes
 *     /bulk-N/…                       N kilobytes of events, of which little is text
 *     /calls-N/v1/chat/completions    a tool call, until the request holds N tool results; then
 *                                     a short answer.  The tool is the first one offered
 *
 * When a connection is closed, one line of JSON tells what happened on it.  Times are
 * CLOCK_MONOTONIC in nanoseconds, so that they compare with those of other processes:
 *
 *     {"accepted": T, "requests": [{"received": T, "answered": T, "body_bytes": N,
 *                                   "answer_bytes": N}, …]}
 *
 * `received`: the last byte of the request was read.  `answered`: the last byte of the
 * response was written.  One thread for each connection; all memory is the connection's.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bench_answers.h"
#include "bench_tls.h"

enum { MOST_REQUESTS = 256, BURST_BYTES = 16384, PADDING_BYTES = 1000 };

struct stamp {
    int64_t received_ns, answered_ns;
    size_t body_bytes, answer_bytes;
};

struct connection {
    int fd;
    SSL *tls; /* NULL: it is a plain one */
    int64_t accepted_ns;
    char *in; /* what was read and not yet dropped; ends with NUL */
    size_t in_length, in_capacity;
    struct buffer events; /* what the answer says next … */
    struct buffer out;    /* … and what is to be sent, in chunks */
    size_t sent_bytes;    /* of this answer */
    bool failed;
    struct stamp stamps[MOST_REQUESTS];
    size_t count;
};

/* One request, in the connection's `in`. */
struct request {
    char scenario[32];
    long amount;
    const struct answer_format *format;
    const char *body;
    size_t body_length, whole_length;
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *need(void *memory)
{
    if (memory)
        return memory;
    fputs("bench_server: no memory\n", stderr);
    exit(1);
}

/* ---- writing ---- */

static ssize_t send_some(struct connection *connection, const char *data, size_t length)
{
    if (!connection->tls)
        return send(connection->fd, data, length, 0);
    size_t sent = 0;
    return SSL_write_ex(connection->tls, data, length, &sent) ? (ssize_t)sent : -1;
}

static void flush(struct connection *connection)
{
    struct buffer *out = &connection->out;
    size_t sent = 0;
    while (sent < out->length && !connection->failed) {
        ssize_t n = send_some(connection, out->data + sent, out->length - sent);
        if (n > 0)
            sent += (size_t)n;
        else if (connection->tls || errno != EINTR)
            connection->failed = true;
    }
    connection->sent_bytes += sent;
    out->length = 0;
}

/* What was said becomes a chunk.  It is sent once as much as `held_bytes` waits. */
static void put_chunk(struct connection *connection, size_t held_bytes)
{
    char size[32];
    int length = snprintf(size, sizeof(size), "%zx\r\n", connection->events.length);
    if (connection->events.length > 0) {
        buffer_append(&connection->out, size, (size_t)length);
        buffer_append(&connection->out, connection->events.data, connection->events.length);
        buffer_append(&connection->out, "\r\n", 2);
    }
    connection->events.length = 0;
    if (connection->out.length >= held_bytes)
        flush(connection);
}

static void put_head(struct connection *connection)
{
    static const char head[] = "HTTP/1.1 200 OK\r\n"
                               "Content-Type: text/event-stream; charset=utf-8\r\n"
                               "Cache-Control: no-cache\r\n"
                               "Transfer-Encoding: chunked\r\n\r\n";
    connection->sent_bytes = 0;
    buffer_append(&connection->out, head, sizeof(head) - 1);
}

/* What ends a response goes out in one piece: a client may go on at any part of it. */
static void put_end(struct connection *connection)
{
    put_chunk(connection, SIZE_MAX);
    buffer_append(&connection->out, "0\r\n\r\n", 5);
    flush(connection);
}

/* ---- the answers ---- */

static void answer_text(struct connection *connection, const struct answer_format *format,
                        long deltas, size_t held_bytes)
{
    struct answer answer;
    answer_begin(&answer, format, &connection->events);
    put_chunk(connection, 0);
    for (long i = 0; i < deltas && !connection->failed; i++) {
        answer_delta(&answer, answer_word((size_t)i));
        put_chunk(connection, held_bytes);
    }
    answer_end(&answer);
    put_end(connection);
}

static void answer_line(struct connection *connection, const struct answer_format *format,
                        long kilobytes)
{
    struct answer answer;
    struct buffer text = {0};
    for (size_t i = 0; text.length < (size_t)kilobytes * 1000; i++)
        buffer_append(&text, answer_word(i), strlen(answer_word(i)));
    answer_begin(&answer, format, &connection->events);
    answer_delta(&answer, text.data);
    put_chunk(connection, 0);
    answer_end(&answer);
    put_end(connection);
    free(text.data);
}

static void answer_bulk(struct connection *connection, const struct answer_format *format,
                        long kilobytes)
{
    struct answer answer;
    answer_begin(&answer, format, &connection->events);
    put_chunk(connection, 0);
    for (size_t i = 0; connection->sent_bytes < (size_t)kilobytes * 1000 && !connection->failed;
         i++) {
        answer_padded(&answer, answer_word(i), PADDING_BYTES);
        put_chunk(connection, BURST_BYTES);
    }
    answer_end(&answer);
    put_end(connection);
}

static void answer_call(struct connection *connection, long number, const char *tool)
{
    for (int part = 0; part < ANSWER_CALL_PARTS; part++) {
        answer_call_part(&connection->events, part, number, tool);
        if (part + 1 < ANSWER_CALL_PARTS)
            put_chunk(connection, 0);
    }
    put_end(connection);
}

static long count_results(const struct request *request)
{
    static const char mark[] = "\"tool_call_id\"";
    long count = 0;
    const char *at = request->body;
    while ((at = strstr(at, mark))) {
        at += sizeof(mark) - 1;
        count++;
    }
    return count;
}

static void find_tool(const struct request *request, char name[65])
{
    const char *at = strstr(request->body, "\"function\":{\"name\":\"");
    snprintf(name, 65, "%.*s", at ? (int)strcspn(at + 20, "\"") : 7, at ? at + 20 : "no_tool");
}

static bool is(const struct request *request, const char *scenario)
{
    return strcmp(request->scenario, scenario) == 0;
}

static void answer(struct connection *connection, const struct request *request)
{
    put_head(connection);
    if (is(request, "calls") && count_results(request) < request->amount) {
        char tool[65];
        find_tool(request, tool);
        answer_call(connection, count_results(request) + 1, tool);
    } else if (is(request, "calls")) {
        answer_text(connection, request->format, 8, 0);
    } else if (is(request, "line")) {
        answer_line(connection, request->format, request->amount);
    } else if (is(request, "bulk")) {
        answer_bulk(connection, request->format, request->amount);
    } else {
        answer_text(connection, request->format, request->amount,
                    is(request, "burst") ? BURST_BYTES : 0);
    }
}

/* ---- reading ---- */

static ssize_t receive_some(struct connection *connection, char *data, size_t room)
{
    if (!connection->tls)
        return recv(connection->fd, data, room, 0);
    size_t received = 0;
    return SSL_read_ex(connection->tls, data, room, &received) ? (ssize_t)received : 0;
}

static bool read_more(struct connection *connection)
{
    if (connection->in_capacity - connection->in_length < 65536) {
        connection->in_capacity = connection->in_capacity * 2 + 131072;
        connection->in = need(realloc(connection->in, connection->in_capacity));
    }
    size_t room = connection->in_capacity - connection->in_length - 1;
    ssize_t n;
    do
        n = receive_some(connection, connection->in + connection->in_length, room);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return false;
    connection->in_length += (size_t)n;
    connection->in[connection->in_length] = '\0';
    return true;
}

/* Whether the head is one that this server understands. */
static bool parse_head(struct request *request, const char *head, const char *end)
{
    size_t body_length = 0;
    int path = 0;
    if (sscanf(head, "POST %n/%31[a-z]-%ld/", &path, request->scenario, &request->amount) != 2)
        return false;
    request->format = answer_format_of_path(head + path);
    if (!request->format)
        return false;
    for (const char *line = strstr(head, "\r\n"); line && line < end;
         line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, "content-length:", 15) == 0)
            body_length = (size_t)strtoul(line + 17, NULL, 10);
    request->body = end + 4;
    request->body_length = body_length;
    request->whole_length = (size_t)(end + 4 - head) + body_length;
    return body_length > 0;
}

/* False: the client is gone, or it is none. */
static bool read_request(struct connection *connection, struct request *request)
{
    const char *end = NULL;
    while (!connection->in_length || !(end = strstr(connection->in, "\r\n\r\n")))
        if (!read_more(connection))
            return false;
    if (!parse_head(request, connection->in, end))
        return false;
    while (connection->in_length < request->whole_length)
        if (!read_more(connection))
            return false;
    request->body = connection->in + (request->whole_length - request->body_length);
    return true;
}

static void drop_request(struct connection *connection, const struct request *request)
{
    connection->in_length -= request->whole_length;
    memmove(connection->in, connection->in + request->whole_length, connection->in_length + 1);
}

/* ---- connections ---- */

static void report(const struct connection *connection)
{
    flockfile(stdout);
    printf("{\"accepted\": %lld, \"requests\": [", (long long)connection->accepted_ns);
    for (size_t i = 0; i < connection->count; i++)
        printf("%s{\"received\": %lld, \"answered\": %lld, \"body_bytes\": %zu, "
               "\"answer_bytes\": %zu}",
               i ? ", " : "", (long long)connection->stamps[i].received_ns,
               (long long)connection->stamps[i].answered_ns, connection->stamps[i].body_bytes,
               connection->stamps[i].answer_bytes);
    printf("]}\n");
    fflush(stdout);
    funlockfile(stdout);
}

/* Where clients come from. */
struct door {
    int listener;
    unsigned port;
    SSL_CTX *tls; /* NULL: plain */
};

struct visit {
    int fd;
    SSL_CTX *tls;
    int64_t accepted_ns;
};

static void close_connection(struct connection *connection)
{
    if (connection->tls)
        SSL_free(connection->tls);
    close(connection->fd);
    report(connection);
    free(connection->in);
    free(connection->events.data);
    free(connection->out.data);
    free(connection);
}

static void *serve(void *argument)
{
    struct visit *visit = argument;
    struct connection *connection = need(calloc(1, sizeof(*connection)));
    struct request request;
    connection->fd = visit->fd;
    connection->accepted_ns = visit->accepted_ns;
    if (visit->tls) {
        connection->tls = bench_tls_accept(visit->tls, visit->fd);
        connection->failed = !connection->tls;
    }
    free(visit);
    while (connection->count < MOST_REQUESTS && !connection->failed &&
           read_request(connection, &request)) {
        struct stamp *stamp = &connection->stamps[connection->count++];
        stamp->received_ns = now_ns();
        stamp->body_bytes = request.body_length;
        answer(connection, &request);
        stamp->answered_ns = now_ns();
        stamp->answer_bytes = connection->sent_bytes;
        drop_request(connection, &request);
    }
    close_connection(connection);
    return NULL;
}

static void *accept_all(void *argument)
{
    const struct door *door = argument;
    int on = 1;
    for (;;) {
        int fd = accept4(door->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            continue;
        struct visit *visit = need(malloc(sizeof(*visit)));
        pthread_t thread;
        *visit = (struct visit){.fd = fd, .tls = door->tls, .accepted_ns = now_ns()};
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        if (pthread_create(&thread, NULL, serve, visit) != 0)
            need(NULL);
        pthread_detach(thread);
    }
    return NULL;
}

static void open_door(struct door *door)
{
    pthread_t thread;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    door->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (door->listener < 0 ||
        bind(door->listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(door->listener, 64) != 0 ||
        getsockname(door->listener, (struct sockaddr *)&address, &length) != 0) {
        perror("bench_server");
        exit(1);
    }
    door->port = ntohs(address.sin_port);
    if (pthread_create(&thread, NULL, accept_all, door) != 0)
        need(NULL);
}

int main(int argc, char **argv)
{
    struct door plain = {0}, secure = {0};
    char byte;
    if (argc != 2) {
        fputs("usage: bench_server FOLDER\n", stderr);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    secure.tls = bench_tls_new(argv[1]);
    open_door(&plain);
    open_door(&secure);
    printf("{\"port\": %u, \"tls_port\": %u}\n", plain.port, secure.port);
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    return 0;
}
