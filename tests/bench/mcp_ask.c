/*
 * mcp_ask - how long a server of the Model Context Protocol takes for a call, over its pipes.
 *
 *     mcp_ask CALLS BYTES COMMAND [ARGUMENT…]
 *     {"median_ns": N}
 *
 * Starts the server and calls its tool "echo" with a message of so many bytes, one call after the
 * other.  It costs next to nothing itself, unlike a client of an SDK.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench_buffer.h"
#include "bench_median.h"

enum { MOST_CALLS = 100000, WARM_UP = 100 };

struct server {
    pid_t pid;
    int in, out;
    struct buffer line; /* the latest answer */
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "mcp_ask: %s\n", what);
    exit(1);
}

static void start(struct server *server, char **command)
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    int in[2], out[2];
    if (pipe(in) || pipe(out) || posix_spawn_file_actions_init(&actions))
        fail("no pipes");
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
    int unused[] = {in[0], in[1], out[0], out[1]};
    for (int i = 0; i < 4; i++)
        posix_spawn_file_actions_addclose(&actions, unused[i]);
    if (posix_spawnp(&server->pid, command[0], &actions, NULL, command, environ))
        fail("the server cannot be started");
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    server->in = in[1];
    server->out = out[0];
}

static void tell(struct server *server, const struct buffer *message)
{
    size_t done = 0;
    while (done < message->length) {
        ssize_t count = write(server->in, message->data + done, message->length - done);
        if (count <= 0)
            fail("the server does not listen");
        done += (size_t)count;
    }
}

/* Notifications may come before the answer. */
static void ask(struct server *server, const struct buffer *message)
{
    static char bytes[1 << 17];
    tell(server, message);
    server->line.length = 0;
    do {
        ssize_t count = read(server->out, bytes, sizeof(bytes));
        if (count <= 0)
            fail("the server has ended");
        buffer_append(&server->line, bytes, (size_t)count);
    } while (server->line.data[server->line.length - 1] != '\n' ||
             !strstr(server->line.data, "\"id\":"));
}

static void puts_line(struct buffer *out, const char *json)
{
    buffer_append(out, json, strlen(json));
    buffer_append(out, "\n", 1);
}

static void begin(struct server *server)
{
    struct buffer message = {0};
    puts_line(&message, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                        "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                        "\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}");
    ask(server, &message);
    message.length = 0;
    puts_line(&message, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    tell(server, &message);
    free(message.data);
}

static double call_ns(struct server *server, const struct buffer *call, const char *text)
{
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    ask(server, call);
    clock_gettime(CLOCK_MONOTONIC, &after);
    if (!strstr(server->line.data, text))
        fail("that is no echo");
    return (double)(after.tv_sec - before.tv_sec) * 1e9 + (double)(after.tv_nsec - before.tv_nsec);
}

int main(int argc, char **argv)
{
    static double times[MOST_CALLS];
    size_t count = argc > 3 ? strtoul(argv[1], NULL, 10) : 0;
    size_t bytes = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
    struct server server = {0};
    struct buffer text = {0}, call = {0};
    if (!count || count > MOST_CALLS || !bytes) {
        fputs("usage: mcp_ask CALLS BYTES COMMAND [ARGUMENT...]\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < bytes; i++)
        buffer_append(&text, "x", 1);
    const char *head = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                       "\"name\":\"echo\",\"arguments\":{\"message\":\"";
    buffer_append(&call, head, strlen(head));
    buffer_append(&call, text.data, text.length);
    puts_line(&call, "\"}}}");
    start(&server, argv + 3);
    begin(&server);
    for (size_t i = 0; i < WARM_UP; i++)
        call_ns(&server, &call, text.data);
    for (size_t i = 0; i < count; i++)
        times[i] = call_ns(&server, &call, text.data);
    close(server.in);
    waitpid(server.pid, NULL, 0);
    bench_sort(times, count);
    printf("{\"median_ns\": %.0f}\n", times[count / 2]);
    return 0;
}
