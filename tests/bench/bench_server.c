/*
 * bench_server - a model's server that costs nothing and looks at its clock.
 *
 *     bench_server            prints {"port": N} and serves on 127.0.0.1 until its input ends
 *
 * It speaks HTTP/1.1 with kept connections and answers in the streamed form of OpenAI's Chat
 * Completions.  The first part of the path says how, so that one server does for all runs:
 *
 *     /text-N/v1/chat/completions     an answer of N small deltas
 *     /burst-N/…                      the same in large writes: the client wakes up rarely
 *     /calls-N/…                      a tool call, until the request holds N tool results; then
 *                                     a short answer.  The tool is the first one offered
 *
 * When a connection is closed, one line of JSON tells what happened on it.  Times are
 * CLOCK_MONOTONIC in nanoseconds, so that they compare with those of other processes:
 *
 *     {"accepted": T, "requests": [{"received": T, "answered": T, "body_bytes": N}, …]}
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

enum { MOST_REQUESTS = 256, BURST_BYTES = 16384, OUT_BYTES = BURST_BYTES + 4096 };

struct stamp {
    int64_t received_ns, answered_ns;
    size_t body_bytes;
};

struct connection {
    int fd;
    int64_t accepted_ns;
    char *in; /* what was read and not yet dropped; ends with NUL */
    size_t in_length, in_capacity;
    char out[OUT_BYTES];
    size_t out_length;
    bool failed;
    struct stamp stamps[MOST_REQUESTS];
    size_t count;
};

/* One request, in the connection's `in`. */
struct request {
    char scenario[32];
    long amount;
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

static void flush(struct connection *connection)
{
    size_t sent = 0;
    while (sent < connection->out_length && !connection->failed) {
        ssize_t n = send(connection->fd, connection->out + sent, connection->out_length - sent, 0);
        if (n > 0)
            sent += (size_t)n;
        else if (errno != EINTR)
            connection->failed = true;
    }
    connection->out_length = 0;
}

static void put(struct connection *connection, const char *data, size_t length)
{
    if (connection->out_length + length > OUT_BYTES)
        flush(connection);
    memcpy(connection->out + connection->out_length, data, length);
    connection->out_length += length;
}

/* One event as one chunk. */
static void put_event(struct connection *connection, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put_event(struct connection *connection, const char *format, ...)
{
    char event[1024], chunk[1100];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(event, sizeof(event), format, arguments);
    va_end(arguments);
    length = snprintf(chunk, sizeof(chunk), "%x\r\ndata: %s\n\n\r\n", (unsigned)length + 8, event);
    put(connection, chunk, (size_t)length);
}

#define CHUNK_HEAD                                                                                 \
    "{\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"      \
    "\"model\":\"bench\",\"choices\":"

static void put_head(struct connection *connection)
{
    static const char head[] = "HTTP/1.1 200 OK\r\n"
                               "Content-Type: text/event-stream; charset=utf-8\r\n"
                               "Cache-Control: no-cache\r\n"
                               "Transfer-Encoding: chunked\r\n\r\n";
    put(connection, head, sizeof(head) - 1);
    put_event(connection, CHUNK_HEAD "[{\"index\":0,\"delta\":{\"role\":\"assistant\","
                                     "\"content\":\"\"},\"finish_reason\":null}]}");
    flush(connection);
}

/* What ends a response goes out in one piece: a client may go on at any part of it. */
static void put_end(struct connection *connection, const char *finish_reason)
{
    put_event(connection, CHUNK_HEAD "[{\"index\":0,\"delta\":{},\"finish_reason\":\"%s\"}]}",
              finish_reason);
    put_event(connection, CHUNK_HEAD "[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":20,"
                                     "\"total_tokens\":120}}");
    put_event(connection, "[DONE]");
    put(connection, "0\r\n\r\n", 5);
    flush(connection);
}

/* ---- the answers ---- */

static void answer_text(struct connection *connection, long deltas, size_t held_bytes)
{
    static const char *const words[] = {"The ",  "answer ", "is ",  "written ",
                                        "word ", "by ",     "word", ".\\n"};
    for (long i = 0; i < deltas && !connection->failed; i++) {
        put_event(connection,
                  CHUNK_HEAD "[{\"index\":0,\"delta\":{\"content\":\"%s\"},"
                             "\"logprobs\":null,\"finish_reason\":null}]}",
                  words[i % 8]);
        if (connection->out_length >= held_bytes)
            flush(connection);
    }
    put_end(connection, "stop");
}

static void answer_call(struct connection *connection, long number, const char *tool)
{
    char count[32]; /* another one in each turn: the same call for ever would end the run */
    const char *const fragments[] = {"{\\\"text\\\":", "\\\"hello\\\"", count,
                                     ",\\\"loud\\\":true}"};
    snprintf(count, sizeof(count), ",\\\"count\\\":%ld", number % 10);
    put_event(connection,
              CHUNK_HEAD "[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,"
                         "\"id\":\"call_bench_%04ld\",\"type\":\"function\",\"function\":"
                         "{\"name\":\"%s\",\"arguments\":\"\"}}]},\"finish_reason\":null}]}",
              number, tool);
    flush(connection);
    for (size_t i = 0; i < sizeof(fragments) / sizeof(*fragments); i++) {
        put_event(connection,
                  CHUNK_HEAD "[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,"
                             "\"function\":{\"arguments\":\"%s\"}}]},\"finish_reason\":null}]}",
                  fragments[i]);
        flush(connection);
    }
    put_end(connection, "tool_calls");
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

static void answer(struct connection *connection, const struct request *request)
{
    put_head(connection);
    if (strcmp(request->scenario, "calls") == 0) {
        long results = count_results(request);
        char tool[65];
        find_tool(request, tool);
        if (results < request->amount)
            answer_call(connection, results + 1, tool);
        else
            answer_text(connection, 8, 0);
    } else {
        bool burst = strcmp(request->scenario, "burst") == 0;
        answer_text(connection, request->amount, burst ? BURST_BYTES : 0);
    }
}

/* ---- reading ---- */

static bool read_more(struct connection *connection)
{
    if (connection->in_capacity - connection->in_length < 65536) {
        connection->in_capacity = connection->in_capacity * 2 + 131072;
        connection->in = need(realloc(connection->in, connection->in_capacity));
    }
    size_t room = connection->in_capacity - connection->in_length - 1;
    ssize_t n;
    do
        n = recv(connection->fd, connection->in + connection->in_length, room, 0);
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
    if (sscanf(head, "POST /%31[a-z]-%ld/", request->scenario, &request->amount) != 2)
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
        printf("%s{\"received\": %lld, \"answered\": %lld, \"body_bytes\": %zu}", i ? ", " : "",
               (long long)connection->stamps[i].received_ns,
               (long long)connection->stamps[i].answered_ns, connection->stamps[i].body_bytes);
    printf("]}\n");
    fflush(stdout);
    funlockfile(stdout);
}

static void *serve(void *argument)
{
    struct connection *connection = argument;
    struct request request;
    while (connection->count < MOST_REQUESTS && !connection->failed &&
           read_request(connection, &request)) {
        struct stamp *stamp = &connection->stamps[connection->count++];
        stamp->received_ns = now_ns();
        stamp->body_bytes = request.body_length;
        answer(connection, &request);
        stamp->answered_ns = now_ns();
        drop_request(connection, &request);
    }
    close(connection->fd);
    report(connection);
    free(connection->in);
    free(connection);
    return NULL;
}

static int listen_here(struct sockaddr_in *address)
{
    socklen_t length = sizeof(*address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || bind(fd, (struct sockaddr *)address, sizeof(*address)) != 0 ||
        listen(fd, 64) != 0 || getsockname(fd, (struct sockaddr *)address, &length) != 0) {
        perror("bench_server");
        exit(1);
    }
    return fd;
}

static void *accept_all(void *argument)
{
    int listener = *(int *)argument, on = 1;
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            continue;
        struct connection *connection = need(calloc(1, sizeof(*connection)));
        pthread_t thread;
        connection->accepted_ns = now_ns();
        connection->fd = fd;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        if (pthread_create(&thread, NULL, serve, connection) != 0)
            need(NULL);
        pthread_detach(thread);
    }
    return NULL;
}

int main(void)
{
    struct sockaddr_in address;
    pthread_t thread;
    char byte;
    signal(SIGPIPE, SIG_IGN);
    int listener = listen_here(&address);
    printf("{\"port\": %u}\n", (unsigned)ntohs(address.sin_port));
    fflush(stdout);
    if (pthread_create(&thread, NULL, accept_all, &listener) != 0)
        need(NULL);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    return 0;
}
