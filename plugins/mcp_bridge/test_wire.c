/* What the bridge reads and writes over HTTP, piece by piece: events, heads, base64, places, waits.
 */
#include <mortise/test.h>
#include <mortise/tool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base64.h"
#include "head.h"
#include "origin.h"
#include "pause.h"
#include "sse.h"

MORTISE_PLUGIN(.name = "mcp_wire");

/* ---- events (C23) ---- */

static void write_event(void *self, const struct sse_event *event)
{
    struct buffer *out = self;
    buffer_printf(out, "[%s|", event->name);
    buffer_put(out, event->data, event->length);
    buffer_puts(out, "]");
}

/* In pieces of `step` bytes, each in memory of its own. */
static bool read_events(struct sse *sse, const char *bytes, size_t length, size_t step)
{
    for (size_t at = 0; at < length; at += step) {
        size_t count = length - at < step ? length - at : step;
        char *piece = malloc(count);
        memcpy(piece, bytes + at, count);
        bool ok = sse_feed(sse, piece, count);
        free(piece);
        if (!ok)
            return false;
    }
    return sse_end(sse);
}

static const struct {
    const char *bytes, *events, *id;
    int64_t retry_ms;
} streams[] = {
    {"data: a\n\n", "[|a]", "", -1},
    {"data:a\r\ndata: b\r\n\r\n", "[|a\nb]", "", -1}, /* FAULTS 1 and 7 */
    {"data: a\rdata:  b\r\r", "[|a\n b]", "", -1},    /* FAULTS 2 */
    {"data: a\r\n\rdata: b\n\r\n", "[|a][|b]", "", -1},
    {": comment\n:\n\ndata: a\n: more\n\n", "[|a]", "", -1}, /* FAULTS 4 */
    {"\xEF\xBB\xBF"
     "data: a\n\n",
     "[|a]", "", -1}, /* FAULTS 8 */
    {"\xEF\xBB"
     "data: a\n\ndata: b\n\n",
     "[|][|b]", "", -1},
    {"data: \xE4\xB8\x96\xE7\x95\x8C\xF0\x9F\x8C\x8D\n\n",
     "[|\xE4\xB8\x96\xE7\x95\x8C\xF0\x9F\x8C\x8D]", "", -1},
    {"event: message\nid: 7\nretry: 500\ndata: \n\n", "[message|]", "7",
     500}, /* an event without data */
    {"id: a\n\nid: b\ndata: x\n\n", "[|][|x]", "b", -1},
    {"id: a\ndata: x\n\nid\ndata: y\n\n", "[|x][|y]", "", -1},
    {"id: a\n\nid: b\n", "[|]", "a", -1}, /* the second is not complete */
    {"retry: 1x\nretry: \nretry:-1\ndata: x\n\n", "[|x]", "", -1},
    {"retry: 99999999999999999999\ndata\n\n", "[|]", "", 86400000},
    {"data: a\nevent: other\nfield: no\nDATA: no\ndatas: no\n\n", "[other|a]", "", -1},
    {"data: a\n\ndata: b", "[|a][|b]", "", -1}, /* FAULTS 9: the end ends the last */
    {"data: {\ndata: }\n\n\n\n", "[|{\n}]", "", -1},
    {"", "", "", -1},
};

static void reads_streams(void)
{
    for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++)
        for (size_t step = 1; step < 12; step++) { /* FAULTS 3: a character in two pieces */
            struct buffer out = BUFFER_INIT;
            struct sse sse;
            sse_begin(&sse, write_event, &out, 1000);
            mortise_test_true(read_events(&sse, streams[i].bytes, strlen(streams[i].bytes), step));
            mortise_test_same(out.text ? out.text : "", streams[i].events);
            mortise_test_same(sse.id, streams[i].id);
            mortise_test_true(sse.retry_ms == streams[i].retry_ms);
            sse_release(&sse);
            buffer_release(&out);
        }
}

/* C22: no more is kept than an event may have, whatever it is made of. */
static void bounds_events(void)
{
    static const char *const larger[] = {"data: 1234567890\n\n", "data: 1234\ndata: 56789\n\n",
                                         "data: 12345678901234567890123456",
                                         ":23456789012345678901234567"};
    for (size_t i = 0; i < 4; i++)
        for (size_t step = 1; step < 20; step += 6) {
            struct buffer out = BUFFER_INIT;
            struct sse sse;
            sse_begin(&sse, write_event, &out, 9);
            mortise_test_true(!read_events(&sse, larger[i], strlen(larger[i]), step));
            mortise_test_true(sse.is_too_large && out.length == 0 && sse.line.length < 60);
            sse_release(&sse);
            buffer_release(&out);
        }
    struct sse sse;
    struct buffer out = BUFFER_INIT;
    char line[2 * SSE_ID_BYTES];
    snprintf(line, sizeof(line), "id: %01500d\ndata: x\n\n", 0);
    sse_begin(&sse, write_event, &out, 4000);
    mortise_test_true(read_events(&sse, line, strlen(line), 100));
    mortise_test_same(out.text, "[|x]");
    mortise_test_same(sse.id, ""); /* it cannot be said again */
    mortise_test_true(sse_feed(&sse, "id: b\ndata: cut", 15));
    sse_again(&sse); /* another stream does not go on in the middle of a line */
    mortise_test_true(sse_feed(&sse, "data: new\n\n", 11));
    mortise_test_same(out.text, "[|x][|new]");
    mortise_test_same(sse.id, "");
    sse_release(&sse);
    buffer_release(&out);
}

/* ---- base64 ---- */

static void codes_base64(void)
{
    static const char *const pairs[][2] = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}};
    for (size_t i = 0; i < 5; i++) {
        struct buffer out = BUFFER_INIT;
        size_t length = 99;
        base64_encode(&out, pairs[i][0], strlen(pairs[i][0]));
        mortise_test_same(out.text ? out.text : "", pairs[i][1]);
        char *bytes = base64_decode(pairs[i][1], strlen(pairs[i][1]), &length);
        mortise_test_true(bytes && length == strlen(pairs[i][0]) &&
                          memcmp(bytes, pairs[i][0], length) == 0);
        free(bytes);
        buffer_release(&out);
    }
    static const char *const good[] = {"Zm9v\nYg", " Zm 9v", "_-8=", "/+8"};
    static const char *const bad[] = {"Z", "Zm9vY", "Zm9%", "Zg==x", "Zg===", "="};
    size_t length;
    for (size_t i = 0; i < 4; i++) {
        char *bytes = base64_decode(good[i], strlen(good[i]), &length);
        mortise_test_true(bytes != NULL);
        free(bytes);
    }
    for (size_t i = 0; i < 5; i++)
        mortise_test_true(!base64_decode(bad[i], strlen(bad[i]), &length));
}

/* ---- the head of a request (C23) ---- */

static char *head_text(const struct link_message *message)
{
    struct head head = HEAD_INIT;
    struct buffer out = BUFFER_INIT;
    head_add_message(&head, message);
    mortise_test_true(head_finish(&head));
    for (size_t i = 0; i < head.count; i++)
        buffer_printf(&out, "%s: %s\n", head.headers[i].name, head.headers[i].value);
    head_release(&head);
    return out.text ? buffer_take(&out) : calloc(1, 1);
}

static void expect_head(const struct link_message *message, const char *expected)
{
    char *text = head_text(message);
    mortise_test_same(text, expected);
    free(text);
}

static const char marked[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"},"
    "\"priority\":{\"type\":\"integer\",\"x-mcp-header\":\"Priority\"},"
    "\"debug\":{\"type\":[\"boolean\",\"null\"],\"x-mcp-header\":\"Debug\"},"
    "\"query\":{\"type\":\"string\"},"
    "\"deep\":{\"type\":\"object\",\"properties\":{"
    "\"inner\":{\"type\":\"string\",\"x-mcp-header\":\"Inner\"}}}}}";

static void writes_heads(void)
{
    expect_head(&(struct link_message){.method = "initialize"}, "");
    expect_head(&(struct link_message){.method = "tools/list", .version = "2025-06-18"},
                "MCP-Protocol-Version: 2025-06-18\n");
    struct link_message message = {
        .method = "tools/call", .version = "2026-07-28", .is_modern = true, .name = "plain name"};
    expect_head(&message, "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\n"
                          "Mcp-Name: plain name\n");
    message.schema = marked;
    message.arguments =
        "{\"region\":\"us west\",\"priority\":4.2e1,\"debug\":false,\"query\":\"q\","
        "\"deep\":{\"inner\":\"\"}}";
    message.name = "caf\xC3\xA9";
    expect_head(&message, "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\n"
                          "Mcp-Name: =?base64?Y2Fmw6k=?=\nMcp-Param-Region: us west\n"
                          "Mcp-Param-Priority: 42\nMcp-Param-Debug: false\nMcp-Param-Inner: \n");
    message.name = "x";
    message.arguments = "{\"region\":null,\"priority\":[],\"deep\":{}}";
    expect_head(&message,
                "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: x\n");
}

/* What a line cannot have, or would be read as something else. */
static void encodes_values(void)
{
    static const char *const values[][2] = {
        {"us-west1", "us-west1"},
        {"Hello, \xE4\xB8\x96\xE7\x95\x8C", "=?base64?SGVsbG8sIOS4lueVjA==?="},
        {" padded ", "=?base64?IHBhZGRlZCA=?="},
        {"line1\nline2", "=?base64?bGluZTEKbGluZTI=?="},
        {"=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
        {"=?base64?", "=?base64?"},
        {"a\r\nEvil: 1", "=?base64?YQ0KRXZpbDogMQ==?="},
        {"\x7f", "=?base64?fw==?="},
    };
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        char expected[200];
        snprintf(expected, sizeof(expected), "Mcp-Method: m\nMcp-Name: %s\n", values[i][1]);
        expect_head(&(struct link_message){.method = "m", .is_modern = true, .name = values[i][0]},
                    expected);
    }
    mortise_test_true(head_is_reserved("content-type") && head_is_reserved("mcp-session-ID") &&
                      !head_is_reserved("Authorization") && !head_is_reserved("X-Mcp"));
}

/* A schema with `inner` as the property "p". */
static bool is_good(const char *inner, char *problem, size_t size)
{
    char schema[2000];
    snprintf(schema, sizeof(schema), "{\"type\":\"object\",\"properties\":{\"p\":%s}}", inner);
    return head_check_schema(schema, problem, size);
}

static void checks_marks(void)
{
    static const char *const good[] = {
        "{\"type\":\"string\",\"x-mcp-header\":\"A\"}",
        "{\"type\":\"object\",\"properties\":{\"x-mcp-header\":{\"type\":\"number\"}}}",
        "{\"type\":\"string\",\"default\":{\"x-mcp-header\":\"\"}}",
        "{\"type\":\"string\",\"enum\":[{\"x-mcp-header\":5}]}",
        "{\"type\":\"string\",\"x-mcp-header\":null}",
    };
    static const struct {
        const char *inner, *problem;
    } bad[] = {
        {"{\"type\":\"string\",\"x-mcp-header\":\"\"}", "no name of a header"},
        {"{\"type\":\"string\",\"x-mcp-header\":5}", "no name of a header"},
        {"{\"type\":\"string\",\"x-mcp-header\":\"My Region\"}", "no name of a header"},
        {"{\"type\":\"string\",\"x-mcp-header\":\"R:P\"}", "no name of a header"},
        {"{\"type\":\"string\",\"x-mcp-header\":\"R\xC3\xA9gion\"}", "no name of a header"},
        {"{\"type\":\"string\",\"x-mcp-header\":\"R\\t1\"}", "no name of a header"},
        {"{\"type\":\"string\",\"x\\u002dmcp-header\":\"\"}", "no name of a header"},
        {"{\"type\":\"object\",\"x-mcp-header\":\"A\"}", "neither a string"},
        {"{\"type\":\"array\",\"x-mcp-header\":\"A\"}", "neither a string"},
        {"{\"type\":\"number\",\"x-mcp-header\":\"A\"}", "neither a string"},
        {"{\"type\":\"null\",\"x-mcp-header\":\"A\"}", "neither a string"},
        {"{\"type\":[\"null\"],\"x-mcp-header\":\"A\"}", "neither a string"},
        {"{\"x-mcp-header\":\"A\"}", "neither a string"},
        {"{\"type\":\"string\",\"x-mcp-header\":\"A\"},\"q\":{\"type\":\"string\",\"x-mcp-header\":"
         "\"a\"}",
         "that another parameter has"},
        {"{\"type\":\"array\",\"items\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}}",
         "at a place"},
        {"{\"anyOf\":[{\"type\":\"string\",\"x-mcp-header\":\"A\"}]}", "at a place"},
        {"{\"if\":{\"properties\":{\"z\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}}}}",
         "at a place"},
        {"{\"$defs\":{\"d\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}}}", "at a place"},
    };
    char problem[400];
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        mortise_test_true(is_good(good[i], problem, sizeof(problem)));
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        problem[0] = '\0';
        mortise_test_true(!is_good(bad[i].inner, problem, sizeof(problem)));
        mortise_test_contains(problem, bad[i].problem);
    }
    mortise_test_true(!head_check_schema("{\"type\":\"string\",\"x-mcp-header\":\"A\"}", problem,
                                         sizeof(problem)));
    struct buffer deep = BUFFER_INIT;
    for (int i = 0; i < 500; i++)
        buffer_puts(&deep, "{\"items\":");
    buffer_puts(&deep, "{\"x-mcp-header\":\"A\"}");
    for (int i = 0; i < 500; i++)
        buffer_puts(&deep, "}");
    mortise_test_true(!head_check_schema(deep.text, problem, sizeof(problem)));
    mortise_test_contains(problem, "too deeply");
    buffer_release(&deep);
}

/* ---- places (C25) ---- */

static void knows_places(void)
{
    static const char *const local[] = {"http://localhost/mcp", "http://127.0.0.1:80/",
                                        "HTTP://LOCALHOST:1",   "http://[::1]:8/x",
                                        "http://a.localhost",   "http://u:p@localhost/"};
    static const char *const remote[] = {
        "http://localhost.example/",      "http://127.0.0.1.example/",        "http://10.0.0.1/",
        "http://localhost@evil.example/", "http://evil.example\\@localhost/", "x"};
    for (size_t i = 0; i < 6; i++) {
        mortise_test_true(origin_is_loopback(local[i]));
        mortise_test_true(!origin_is_loopback(remote[i]));
    }
    char host[300];
    origin_host("https://me:secret@example.com:8443/mcp?x", host, sizeof(host));
    mortise_test_same(host, "example.com:8443");
    mortise_test_true(origin_is_same("https://A.example/x", "HTTPS://a.example:443/y"));
    mortise_test_true(!origin_is_same("http://a.example/", "https://a.example/"));
    mortise_test_true(!origin_is_same("https://a.example/", "https://a.example:8443/"));
    mortise_test_true(!origin_is_same("https://a.example/", "https://a.example.evil/"));
    mortise_test_true(!origin_is_same("https://a.example/", "https://a.example@evil/"));
    static const char *const moves[][2] = {
        {"/m", "https://h:1/m"},  {"m/", "https://h:1/a/m/"}, {"?q", "https://h:1/a/b?q"},
        {"//o/p", "https://o/p"}, {"http://o/", "http://o/"}, {"javascript:x", "javascript:x"},
    };
    for (size_t i = 0; i < 6; i++) {
        char to[100];
        mortise_test_true(origin_resolve("https://h:1/a/b?c/d", moves[i][0], to, sizeof(to)));
        mortise_test_same(to, moves[i][1]);
    }
    char to[20];
    mortise_test_true(!origin_resolve("https://h", "", to, sizeof(to)));
    mortise_test_true(!origin_resolve("https://h/", "/12345678901234567890", to, sizeof(to)));
}

/* ---- waits (FAULTS 36, as a server of tools has them) ---- */

static void reads_waits(void)
{
    mortise_test_true(pause_read("0") == 0 && pause_read("12") == 12000);
    mortise_test_true(pause_read("1.25") == 1250 && pause_read("2. ") == 2000);
    mortise_test_true(pause_read("-1") == -1 && pause_read("") == -1 && pause_read("soon") == -1);
    mortise_test_true(pause_read("Sun, 06 Nov 1994 08:49:37 GMT") == 0);
    mortise_test_true(pause_read("Sun, 06 Now 1994 08:49:37 GMT") == -1);
    mortise_test_true(pause_read("99999999999999999999") == INT64_C(30) * 24 * 3600 * 1000);
    mortise_test_true(pause_read_ms("250") == 250 && pause_read_ms("x") == -1);
    char date[64];
    time_t soon = time(NULL) + 100;
    struct tm parts;
    strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&soon, &parts));
    mortise_test_true(pause_read(date) > 95000 && pause_read(date) <= 100000);
    for (unsigned i = 0; i < 100; i++)
        mortise_test_true(pause_before(1) <= 500 && pause_before(3) <= 2000 &&
                          pause_before(1000) <= 10000);
}

int main(void)
{
    reads_streams();
    bounds_events();
    codes_base64();
    writes_heads();
    encodes_values();
    checks_marks();
    knows_places();
    reads_waits();
    return mortise_test_status();
}
