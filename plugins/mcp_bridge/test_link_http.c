/* The link over HTTP against servers that are a list of answers (C22-C25). */
#include <mortise/test.h>
#include <mortise/tool.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "buffer.h"
#include "link.h"

MORTISE_PLUGIN(.name = "mcp_link");

/* ---- a network ---- */

/* What is answered to one request. */
struct reply {
    uint32_t status;        /* 0: there is none, and `problem` says why */
    const char *headers[9]; /* name, value, …, NULL */
    const char *body;
    bool breaks; /* behind the body, in place of an end */
    bool stays;  /* open behind the body, until it is left */
    const char *problem;
};

static struct {
    const struct reply *replies;
    size_t count;
    struct buffer requests; /* "POST URL\nName: value\n…\nBODY\n\n" */
} network;

static struct {
    struct buffer messages, notes; /* one a line */
} heard;

static void write_request(const mortise_http_request *request)
{
    buffer_printf(&network.requests, "%s %s\n", request->method, request->url);
    for (size_t i = 0; i < request->header_count; i++)
        buffer_printf(&network.requests, "%s: %s\n", request->headers[i].name,
                      request->headers[i].value);
    buffer_put(&network.requests, request->body, request->body_length);
    buffer_puts(&network.requests, "\n\n");
}

static mortise_status answer(const mortise_http_request *request, const struct reply *reply)
{
    mortise_http_header headers[4];
    size_t count = 0;
    for (; reply->headers[2 * count]; count++)
        headers[count] =
            (mortise_http_header){reply->headers[2 * count], reply->headers[2 * count + 1]};
    request->answered(request->received_data, reply->status, headers, count);
    for (const char *at = reply->body ? reply->body : ""; *at;) { /* in pieces */
        size_t length = strlen(at) < 7 ? strlen(at) : 7;
        if (!request->received(request->received_data, at, length))
            return MORTISE_CANCELLED;
        at += length;
    }
    struct pollfd stop = {.fd = request->stop_fd, .events = POLLIN};
    if (reply->stays)
        return poll(&stop, 1, 5000) > 0 ? MORTISE_CANCELLED : MORTISE_FAILED;
    return reply->breaks ? MORTISE_FAILED : MORTISE_OK;
}

static mortise_status fetch(const mortise_host *host, const mortise_http_request *request,
                            mortise_http_response *response)
{
    static const struct reply none = {.problem = "nobody is there"};
    const struct reply *reply = &none;
    struct pollfd stop = {.fd = request->stop_fd, .events = POLLIN};
    (void)host;
    mortise_test_true(request->max_redirects == 0 && request->stop_fd > 0);
    write_request(request);
    if (network.count) {
        reply = network.replies++;
        network.count--;
    }
    if (poll(&stop, 1, 0) > 0)
        return MORTISE_CANCELLED;
    response->problem = reply->problem ? reply->problem : "it broke off";
    return reply->status ? answer(request, reply) : MORTISE_FAILED;
}

static void release(const mortise_host *host, mortise_http_response *response)
{
    (void)host;
    *response = (mortise_http_response){.size = response->size};
}

static const void *service(const mortise_host *host, const char *id)
{
    static const mortise_http http = {.size = sizeof(http), .fetch = fetch, .release = release};
    (void)host;
    return strcmp(id, MORTISE_HTTP_ID) == 0 ? &http : NULL;
}

static const mortise_host host = {.size = sizeof(host), .service = service};

/* ---- what is heard ---- */

static void on_message(void *self, const char *json, size_t length)
{
    (void)self;
    mortise_test_true(strlen(json) == length);
    buffer_printf(&heard.messages, "%s\n", json);
}

static void on_note(void *self, uint32_t level, const char *text)
{
    (void)self;
    buffer_printf(&heard.notes, "%u %s\n", level, text);
}

static void on_closed(void *self, const char *reason)
{
    (void)self;
    mortise_test_same(reason, "never");
}

static const struct link_listener listener = {
    .message = on_message, .note = on_note, .closed = on_closed};

/* ---- a link, and one message over it ---- */

static char name[] = "srv", where[] = "mcp.json", url[] = "http://localhost:1/mcp",
            far_url[] = "http://remote.example/mcp", safe_url[] = "https://remote.example/mcp";
static struct server_config config = {
    .name = name, .where = where, .is_http = true, .url = url, .limits = {.message_bytes = 2000}};
static char problem[1000];
static int stop_fd = -1;

static void expect(const struct reply *replies, size_t count)
{
    network.replies = replies;
    network.count = count;
    buffer_clear(&network.requests);
    buffer_clear(&heard.messages);
    buffer_clear(&heard.notes);
    problem[0] = '\0';
}

static const char *text_of(const struct buffer *buffer)
{
    return buffer->length ? buffer->text : "";
}

static mortise_status send_over(struct link *link, const struct link_message *given)
{
    struct link_message message = *given;
    message.host = &host;
    message.stop_fd = stop_fd;
    message.length = message.json ? strlen(message.json) : 0;
    message.timeout_ms = message.timeout_ms ? message.timeout_ms : 20000;
    return link->face->send(link, &message, problem, sizeof(problem));
}

static struct link *open_link(void)
{
    struct link *link = link_http_open(&config, &listener, problem, sizeof(problem));
    mortise_test_true(link && link->face->waits);
    return link;
}

static void close_link(struct link *link)
{
    link->face->close(link, &host);
}

static const struct link_message call = {.json = "{\"id\":7,\"method\":\"tools/call\"}",
                                         .method = "tools/call",
                                         .name = "echo",
                                         .version = "2026-07-28",
                                         .is_modern = true,
                                         .is_request = true};
static const struct link_message old_call = {.json = "{\"id\":7,\"method\":\"tools/call\"}",
                                             .method = "tools/call",
                                             .version = "2025-06-18",
                                             .is_request = true};
static const struct link_message initialize = {
    .json = "{\"id\":1,\"method\":\"initialize\"}", .method = "initialize", .is_request = true};
#define JSON   "Content-Type", "application/json"
#define EVENTS "content-type", "Text/Event-Stream; charset=utf-8"
#define ANSWER "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}"
#define NEWS   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}"

#define SEND(link, message, status, ...)                                                           \
    do {                                                                                           \
        const struct reply replies[] = {__VA_ARGS__};                                              \
        expect(replies, sizeof(replies) / sizeof(*replies));                                       \
        mortise_test_true(send_over(link, message) == (status));                                   \
        mortise_test_true(network.count == 0);                                                     \
    } while (0)

static void takes_both_forms(void) /* C23 */
{
    struct link *link = open_link();
    SEND(link, &call, MORTISE_OK, {.status = 200, .headers = {JSON}, .body = ANSWER "\n"});
    mortise_test_same(text_of(&heard.messages), ANSWER "\n\n");
    mortise_test_same(text_of(&network.requests),
                      "POST http://localhost:1/mcp\nAccept: application/json, text/event-stream\n"
                      "Content-Type: application/json\nMCP-Protocol-Version: 2026-07-28\n"
                      "Mcp-Method: tools/call\nMcp-Name: echo\n"
                      "{\"id\":7,\"method\":\"tools/call\"}\n\n");
    SEND(link, &call, MORTISE_OK,
         {.status = 200,
          .headers = {EVENTS},
          .body = ": hi\n\nevent: message\ndata: " NEWS "\n\nevent: other\ndata: no\n\n"
                  "data: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":7,\"result\":{}}\n\n"});
    mortise_test_same(text_of(&heard.messages),
                      NEWS "\n{\"jsonrpc\":\"2.0\",\n\"id\":7,\"result\":{}}\n");
    SEND(link, &call, MORTISE_OK,
         {.status = 200, .headers = {JSON}, .body = "[" NEWS ", 7, " ANSWER "]"});
    mortise_test_same(text_of(&heard.messages), NEWS "\n" ANSWER "\n");
    SEND(link, &call, MORTISE_OK,
         {.status = 200, .headers = {EVENTS}, .body = "data: no JSON\n\ndata: " ANSWER});
    mortise_test_contains(text_of(&heard.notes), "no JSON");
    /* a stream that stays open behind the answer is left (FAULTS 10) */
    SEND(link, &call, MORTISE_OK,
         {.status = 200, .headers = {EVENTS}, .body = "data: " ANSWER "\n\n", .stays = true});
    /* one that breaks behind it too */
    SEND(link, &call, MORTISE_OK,
         {.status = 200, .headers = {EVENTS}, .body = "data: " ANSWER "\n\n", .breaks = true});
    const struct link_message told = {.json = "{\"method\":\"notifications/initialized\"}",
                                      .method = "notifications/initialized",
                                      .version = "2025-11-25"};
    SEND(link, &told, MORTISE_OK, {.status = 202}); /* C24 */
    SEND(link, &told, MORTISE_OK, {.status = 204});
    SEND(link, &call, MORTISE_FAILED, {.status = 202});
    mortise_test_contains(problem, "'localhost:1' took the request (202), and did not answer it");
    close_link(link);
}

static void tells_errors(void)
{
    struct link *link = open_link();
    /* of the protocol: the listener's, with the id of what they are about */
    SEND(link, &call, MORTISE_OK,
         {.status = 400,
          .headers = {JSON},
          .body = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32022}}"});
    mortise_test_same(text_of(&heard.messages),
                      "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32022}}\n");
    SEND(link, &call, MORTISE_OK,
         {.status = 404, .headers = {JSON}, .body = "{\"id\":7,\"error\":{\"code\":-32601}}"});
    mortise_test_same(text_of(&heard.messages), "{\"id\":7,\"error\":{\"code\":-32601}}\n");
    /* of HTTP alone */
    SEND(link, &call, MORTISE_UNSUPPORTED,
         {.status = 404,
          .headers = {"Content-Type", "text/html"},
          .body = "<h1>\n\tNot  here</h1>"});
    mortise_test_same(problem,
                      "'localhost:1' answered 404 with text/html: <h1> Not here</h1>, which "
                      "is nothing of MCP");
    SEND(link, &call, MORTISE_UNSUPPORTED, {.status = 405});
    SEND(link, &call, MORTISE_UNSUPPORTED,
         {.status = 200, .headers = {"Content-Type", "text/html"}, .body = "<p>"});
    SEND(link, &call, MORTISE_FAILED, {.status = 500, .headers = {JSON}, .body = "{\"oh\":1}"});
    SEND(link, &call, MORTISE_FAILED, {.problem = "cannot be reached"});
    mortise_test_same(problem, "cannot be reached");
    /* of a modern stream there is no second half */
    SEND(link, &call, MORTISE_FAILED,
         {.status = 200, .headers = {EVENTS}, .body = "id: 1\ndata: " NEWS "\n\n"});
    mortise_test_contains(problem, "ended its stream before the answer");
    SEND(link, &call, MORTISE_FAILED,
         {.status = 200, .headers = {EVENTS}, .body = "id: 1\n", .breaks = true});
    mortise_test_contains(problem, "before the answer: it broke off");
    close_link(link);
}

static void bounds_messages(void) /* C22 */
{
    char large[4000];
    struct link *link = open_link();
    snprintf(large, sizeof(large), "{\"id\":7,\"result\":\"%03000d\"}", 0);
    SEND(link, &call, MORTISE_FAILED, {.status = 200, .headers = {JSON}, .body = large});
    mortise_test_same(problem, "it sent a message of more than 2000 bytes");
    snprintf(large, sizeof(large), "data: {\"id\":7,\"result\":\"%03000d\"}\n\n", 0);
    SEND(link, &call, MORTISE_FAILED, {.status = 200, .headers = {EVENTS}, .body = large});
    mortise_test_same(problem, "it sent a message of more than 2000 bytes");
    size_t used = 0; /* a stream may be longer than each of its events */
    for (int i = 0; i < 50; i++)
        used += (size_t)snprintf(large + used, sizeof(large) - used, "data: %s\n\n", NEWS);
    snprintf(large + used, sizeof(large) - used, "data: %s\n\n", ANSWER);
    SEND(link, &call, MORTISE_OK, {.status = 200, .headers = {EVENTS}, .body = large});
    close_link(link);
}

static void keeps_a_session(void) /* C24 */
{
    struct link *link = open_link();
    SEND(link, &initialize, MORTISE_OK,
         {.status = 200,
          .headers = {JSON, "Mcp-Session-Id", "abc"},
          .body = "{\"id\":1,\"result\":{}}"});
    SEND(link, &old_call, MORTISE_OK, {.status = 200, .headers = {JSON}, .body = ANSWER});
    mortise_test_contains(text_of(&network.requests), "Mcp-Session-Id: abc\n");
    mortise_test_contains(text_of(&network.requests), "MCP-Protocol-Version: 2025-06-18\n");
    mortise_test_true(!strstr(text_of(&network.requests), "Mcp-Method"));
    SEND(link, &old_call, MORTISE_NOT_FOUND,
         {.status = 404,
          .headers = {JSON},
          .body = "{\"id\":null,\"error\":{\"code\":-32001,\"message\":\"Session not "
                  "found\"}}"});
    mortise_test_same(text_of(&heard.messages), "");
    SEND(link, &initialize, MORTISE_OK,
         {.status = 200,
          .headers = {EVENTS, "mcp-session-id", "def"},
          .body = "data: {\"id\":1,\"result\":{}}\n\n"});
    mortise_test_true(!strstr(text_of(&network.requests), "Session"));
    SEND(link, &old_call, MORTISE_NOT_FOUND,
         {.status = 400,
          .headers = {JSON},
          .body = "{\"id\":7,\"error\":{\"message\":\"No valid session ID\"}}"});
    SEND(link, &initialize, MORTISE_OK,
         {.status = 200,
          .headers = {JSON, "Mcp-Session-Id", "ghi"},
          .body = "{\"id\":1,\"result\":{}}"});
    const struct reply end = {.status = 200, .body = ""};
    expect(&end, 1);
    close_link(link);
    mortise_test_same(text_of(&network.requests),
                      "DELETE http://localhost:1/mcp\nAccept: text/event-stream\n"
                      "Mcp-Session-Id: ghi\nMCP-Protocol-Version: 2025-06-18\n\n\n");

    link = open_link();
    SEND(link, &initialize, MORTISE_OK,
         {.status = 200,
          .headers = {JSON, "Mcp-Session-Id", "no good"},
          .body = "{\"id\":1,\"result\":{}}"});
    SEND(link, &call, MORTISE_OK,
         {.status = 200, .headers = {JSON, "Mcp-Session-Id", "x"}, .body = ANSWER});
    SEND(link, &call, MORTISE_OK, {.status = 200, .headers = {JSON}, .body = ANSWER});
    mortise_test_true(!strstr(text_of(&network.requests), "Session")); /* the modern era has none */
    expect(NULL, 0);
    close_link(link);
    mortise_test_same(text_of(&network.requests), "");
}

static void picks_up_streams(void) /* C24 */
{
    struct link *link = open_link();
    SEND(link, &old_call, MORTISE_OK,
         {.status = 200, .headers = {EVENTS}, .body = "id: e1\nretry: 20\ndata: \n\n"},
         {.status = 200,
          .headers = {EVENTS},
          .body = "id: e2\ndata: " NEWS "\n\nid: e3\ndata: cut",
          .breaks = true},
         {.status = 503}, {.problem = "gone"},
         {.status = 200, .headers = {EVENTS}, .body = "data: " ANSWER "\n\n", .stays = true});
    mortise_test_same(text_of(&heard.messages), NEWS "\n" ANSWER "\n");
    mortise_test_contains(text_of(&network.requests),
                          "GET http://localhost:1/mcp\nAccept: text/event-stream\n"
                          "Last-Event-ID: e1\nMCP-Protocol-Version: 2025-06-18\n\n\n");
    mortise_test_contains(text_of(&network.requests), "Last-Event-ID: e2\n");
    mortise_test_true(!strstr(text_of(&network.requests), "Last-Event-ID: e3\n"));
    SEND(link, &old_call, MORTISE_UNSUPPORTED,
         {.status = 200, .headers = {EVENTS}, .body = "id: e1\nretry: 0\ndata: \n\n"},
         {.status = 405});
    SEND(link, &old_call, MORTISE_FAILED,
         {.status = 200, .headers = {EVENTS}, .body = "id: e1\nretry: 0\ndata: \n\n"},
         {.status = 200, .headers = {EVENTS}}, {.status = 200, .headers = {EVENTS}},
         {.status = 200, .headers = {EVENTS}}, {.status = 200, .headers = {EVENTS}},
         {.status = 200, .headers = {EVENTS}}, {.status = 200, .headers = {EVENTS}});
    mortise_test_contains(problem, "does not go on");
    SEND(link, &old_call, MORTISE_FAILED,
         {.status = 200, .headers = {EVENTS}, .body = "data: " NEWS "\n\n"});
    mortise_test_contains(problem, "before the answer"); /* there is no event to go on from */
    struct link_message short_call = old_call;
    short_call.timeout_ms = 100;
    SEND(link, &short_call, MORTISE_CONFLICT,
         {.status = 200, .headers = {EVENTS}, .body = "id: e1\nretry: 9000\ndata: \n\n"});
    mortise_test_contains(problem, "in time");
    close_link(link);
}

/* The stream on which a server tells of what changes. */
static void listens(void) /* C24 */
{
    struct link *link = open_link();
    const struct link_message listen = {.version = "2025-11-25", .timeout_ms = -1};
    SEND(link, &listen, MORTISE_UNSUPPORTED, {.status = 405});
    SEND(link, &listen, MORTISE_UNSUPPORTED,
         {.status = 200, .headers = {EVENTS}, .body = "retry: 0\nid: 4\ndata: " NEWS "\n\n"},
         {.status = 200, .headers = {EVENTS}, .body = "data: " NEWS "\n\n", .breaks = true},
         {.status = 400});
    mortise_test_same(text_of(&heard.messages), NEWS "\n" NEWS "\n");
    mortise_test_contains(text_of(&network.requests), "Last-Event-ID: 4\n");
    close_link(link);
}

static void asks_for_authentication(void) /* C25 */
{
    struct link *link = open_link();
    SEND(link, &call, MORTISE_DENIED,
         {.status = 401,
          .headers = {"WWW-Authenticate", "Bearer realm=\"x\"", JSON},
          .body = "{\"error\":\"none\"}"});
    mortise_test_same(
        problem, "'localhost:1' needs authentication (401, WWW-Authenticate: Bearer "
                 "realm=\"x\"): {\"error\":\"none\"}; give it a token, such as Authorization, in "
                 "the \"headers\" of the server in 'mcp.json'");
    SEND(link, &call, MORTISE_DENIED, {.status = 403, .body = ANSWER});
    mortise_test_contains(problem, "does not allow this (403)");
    mortise_test_same(text_of(&heard.messages), "");
    close_link(link);
}

static void follows_at_home_only(void) /* C25 */
{
    mortise_http_header headers[] = {{"Authorization", "Bearer s"}, {"Mcp-Session-Id", "mine"}};
    config.headers = headers;
    config.header_count = 2;
    buffer_clear(&heard.notes);
    struct link *link = open_link();
    mortise_test_contains(text_of(&heard.notes), "'Mcp-Session-Id' is left out");
    SEND(link, &call, MORTISE_OK, {.status = 307, .headers = {"Location", "/mcp/"}},
         {.status = 200, .headers = {JSON}, .body = ANSWER});
    mortise_test_contains(text_of(&network.requests),
                          "POST http://localhost:1/mcp/\nAuthorization: Bearer s\n");
    mortise_test_true(!strstr(text_of(&network.requests), "mine"));
    SEND(link, &call, MORTISE_FAILED,
         {.status = 308, .headers = {"Location", "http://localhost:2/mcp"}});
    mortise_test_contains(problem, "redirects to 'http://localhost:2/mcp'");
    SEND(link, &call, MORTISE_FAILED,
         {.status = 302, .headers = {"Location", "https://localhost:1/mcp"}});
    SEND(link, &call, MORTISE_FAILED, {.status = 303, .headers = {"Location", "/mcp/"}});
    SEND(link, &call, MORTISE_FAILED, {.status = 307});
    mortise_test_contains(problem, "redirects to 'nowhere'");
    SEND(link, &call, MORTISE_FAILED, {.status = 307, .headers = {"Location", "/"}},
         {.status = 307, .headers = {"Location", "/"}},
         {.status = 307, .headers = {"Location", "/"}},
         {.status = 307, .headers = {"Location", "/"}});
    close_link(link);

    config.url = far_url;
    mortise_test_true(!link_http_open(&config, &listener, problem, sizeof(problem)));
    mortise_test_contains(problem, "'Authorization' is not sent to 'remote.example' over http");
    config.header_count = 0;
    buffer_clear(&heard.notes);
    close_link(open_link());
    mortise_test_contains(text_of(&heard.notes), "'remote.example' is reached over http");
    config.url = safe_url;
    config.header_count = 1;
    buffer_clear(&heard.notes);
    close_link(open_link());
    mortise_test_same(text_of(&heard.notes), "");
    config.url = url;
    config.header_count = 0;
}

/* FAULTS 145: a server that takes no more requests is asked again when it says. */
static void is_patient(void)
{
    struct link *link = open_link();
    SEND(link, &call, MORTISE_OK, {.status = 429, .headers = {"Retry-After", "0.03"}},
         {.status = 503, .headers = {"retry-after-ms", "10", "Retry-After", "3000"}},
         {.status = 200, .headers = {JSON}, .body = ANSWER});
    SEND(link, &call, MORTISE_FAILED,
         {.status = 429, .headers = {"Retry-After", "3000", JSON}, .body = "{\"e\":1}"});
    mortise_test_same(problem,
                      "'localhost:1' takes no more requests for now (429): {\"e\":1}; it can "
                      "be asked again in 3000 s");
    SEND(link, &call, MORTISE_FAILED, {.status = 503, .headers = {"Retry-After", "0"}},
         {.status = 503, .headers = {"Retry-After", "0"}},
         {.status = 503, .headers = {"Retry-After", "0"}},
         {.status = 503, .headers = {"Retry-After", "0"}},
         {.status = 503, .headers = {"Retry-After", "0"}});
    mortise_test_contains(problem, "is not available (503)");
    struct link_message short_call = call;
    short_call.timeout_ms = 50;
    SEND(link, &short_call, MORTISE_FAILED, {.status = 429, .headers = {"Retry-After", "1"}});
    close_link(link);
}

/* C14, C15: closing the stream is the cancel. */
static void stops(void)
{
    struct link *link = open_link();
    stop_fd = eventfd(1, EFD_CLOEXEC);
    SEND(link, &call, MORTISE_CANCELLED, {.status = 200, .headers = {EVENTS}, .stays = true});
    close(stop_fd);
    stop_fd = -1;
    struct link_message slow = call; /* without progress for too long */
    slow.idle_ms = 60;
    SEND(link, &slow, MORTISE_CONFLICT, {.status = 200, .headers = {EVENTS}, .stays = true});
    mortise_test_same(problem, "'localhost:1' did not answer in time");
    SEND(link, &slow, MORTISE_CONFLICT,
         {.status = 200, .headers = {EVENTS}, .body = "data: " NEWS "\n\n", .stays = true});
    close_link(link);
}

int main(void)
{
    takes_both_forms();
    tells_errors();
    bounds_messages();
    keeps_a_session();
    picks_up_streams();
    listens();
    asks_for_authentication();
    follows_at_home_only();
    is_patient();
    stops();
    buffer_release(&network.requests);
    buffer_release(&heard.messages);
    buffer_release(&heard.notes);
    return mortise_test_status();
}
