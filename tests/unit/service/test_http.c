#include "inside.h"
#include "web.h"

#include <stdatomic.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/clock.h"

static struct web web;

struct fetch {
    mortise_http_request request;
    const char *path; /* of the server here, when there is no URL */
    char url[1024];
    uint32_t status;
    char body[4096];
    size_t body_length;
    char type[64];
    char x_two[64], x_latin[64], x_none[64];
    char last_url[1024];
};

static void copy_header(char *out, const mortise_http_response *response, const char *name)
{
    for (size_t i = 0; i < response->header_count; i++)
        if (strcmp(response->headers[i].name, name) == 0)
            snprintf(out, 64, "%s", response->headers[i].value);
}

static mortise_status send_it(mortise_call *call, void *data)
{
    struct fetch *fetch = data;
    mortise_http_response response = {.size = sizeof(response)};
    if (!fetch->request.size)
        fetch->request.size = sizeof(fetch->request);
    if (fetch->path) {
        snprintf(fetch->url, sizeof(fetch->url), "http://127.0.0.1:%d%s", web.port, fetch->path);
        fetch->request.url = fetch->url;
    }
    snprintf(fetch->x_none, sizeof(fetch->x_none), "?");
    mortise_status status = mortise_http_of(call)->send(call, &fetch->request, &response);
    assert_int_equal(response.size, sizeof(response));
    if (status != MORTISE_OK) {
        assert_int_equal(response.status, 0);
        return status;
    }
    fetch->status = response.status;
    fetch->body_length = response.body_length;
    assert_int_equal(response.body[response.body_length], '\0');
    snprintf(fetch->body, sizeof(fetch->body), "%s", response.body);
    snprintf(fetch->type, sizeof(fetch->type), "%s",
             response.content_type ? response.content_type : "none");
    snprintf(fetch->last_url, sizeof(fetch->last_url), "%s", response.url);
    copy_header(fetch->x_two, &response, "X-Two");
    copy_header(fetch->x_latin, &response, "X-Latin");
    copy_header(fetch->x_none, &response, "X-None");
    return status;
}

/* The answer is good, and its body has this. */
static void check_echo(struct inside *inside, struct fetch *fetch, const char *part)
{
    fetch->path = "/echo";
    assert_inside(inside, MORTISE_OK, send_it, fetch);
    assert_int_equal(fetch->status, 200);
    if (!strstr(fetch->body, part))
        fail_msg("'%s' is not in:\n%s", part, fetch->body);
}

static void answers_come_back(void **state)
{
    struct inside inside;
    struct fetch fetch = {0};
    (void)state;
    inside_open(&inside, NULL);
    check_echo(&inside, &fetch, "GET /echo HTTP/1.1\r\n");
    assert_string_equal(fetch.type, "text/x");
    assert_string_equal(fetch.x_two, "a");
    assert_string_equal(fetch.x_latin, "\xEF\xBF\xBD");
    assert_string_equal(fetch.x_none, "");
    assert_string_equal(fetch.last_url, fetch.url);
    assert_non_null(strstr(fetch.body, "\r\nUser-Agent: mortise/"));
    fetch = (struct fetch){.path = "/status/404"};
    assert_inside(&inside, MORTISE_OK, send_it, &fetch);
    assert_int_equal(fetch.status, 404);
    assert_string_equal(fetch.type, "none");
    assert_string_equal(fetch.body, "");
    fetch = (struct fetch){.path = "/gzip"};
    assert_inside(&inside, MORTISE_OK, send_it, &fetch);
    assert_string_equal(fetch.body, "unpacked");
    inside_close(&inside);
}

static void requests_are_sent_as_they_are(void **state)
{
    const mortise_http_header headers[] = {
        {"X-Key", "k: 1"}, {"X-Empty", ""}, {"X-Null", NULL}, {"content-type", "application/json"}};
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    struct fetch post = {
        .request = {.body = "{\"a\":\0}", .body_length = 7, .headers = headers, .header_count = 4}};
    check_echo(&inside, &post, "POST /echo HTTP/1.1\r\n");
    for (size_t i = 0; i < 4; i++) {
        static const char *const lines[] = {"\r\nX-Key: k: 1\r\n", "\r\nX-Empty:\r\n",
                                            "\r\nX-Null:\r\n",
                                            "\r\ncontent-type: application/json\r\n"};
        assert_non_null(strstr(post.body, lines[i]));
    }
    assert_non_null(strstr(post.body, "\r\nContent-Length: 7\r\n"));
    assert_null(strstr(post.body, "Expect"));
    struct fetch put = {.request = {.method = "PUT", .body = "x", .body_length = 1}};
    check_echo(&inside, &put, "PUT /echo HTTP/1.1\r\n");
    assert_null(strstr(put.body, "Content-Type"));
    struct fetch empty = {.request = {.method = "PATCH"}};
    check_echo(&inside, &empty, "Content-Length: 0\r\n");
    struct fetch delete = {.request = {.method = "DELETE"}};
    check_echo(&inside, &delete, "DELETE /echo HTTP/1.1\r\n");
    struct fetch get = {.request = {.method = "GET", .body = "q", .body_length = 1}};
    check_echo(&inside, &get, "GET /echo HTTP/1.1\r\n");
    struct fetch head = {.request = {.method = "HEAD"}, .path = "/status/204"};
    assert_inside(&inside, MORTISE_OK, send_it, &head);
    assert_int_equal(head.status, 204);
    inside_close(&inside);
}

static void check_invalid(struct inside *inside, const mortise_http_request *request,
                          const char *part)
{
    struct fetch fetch = {.request = *request};
    int before = atomic_load(&web.connections);
    assert_inside(inside, MORTISE_INVALID, send_it, &fetch);
    assert_string_equal(inside->category, "invalid_input");
    if (!strstr(inside->said, part))
        fail_msg("'%s' is not in: %s", part, inside->said);
    assert_int_equal(atomic_load(&web.connections), before);
}

static void what_is_no_request_is_refused(void **state)
{
    static const char *const urls[][2] = {{NULL, "no URL"},
                                          {"", "no URL"},
                                          {"file:///etc/passwd", "only http"},
                                          {"ftp://127.0.0.1/", "only http"},
                                          {"127.0.0.1", "only http"},
                                          {"http://127.0.0.1/a b", "a blank"},
                                          {"http://127.0.0.1/\r\nX: y", "a blank"},
                                          {"http://", "cannot be read"},
                                          {"http://[::1/", "cannot be read"}};
    static const mortise_http_header bad[] = {{"X", "a\r\nY: b"},
                                              {"X", "a\nb"},
                                              {"X", "a\x01"},
                                              {"X: y", "z"},
                                              {"", "z"},
                                              {NULL, "z"},
                                              {"X\n", "z"},
                                              {"Content-Length", "9"},
                                              {"transfer-encoding", "chunked"},
                                              {"Connection", "close"}};
    static const char *const methods[] = {"", "GET /", "G\nET", "GET\r\nX: y", "\xC3\xA4"};
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++)
        check_invalid(&inside, &(mortise_http_request){.url = urls[i][0]}, urls[i][1]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        check_invalid(&inside,
                      &(mortise_http_request){
                          .url = "http://127.0.0.1:1/", .headers = &bad[i], .header_count = 1},
                      "header");
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
        check_invalid(&inside,
                      &(mortise_http_request){.url = "http://127.0.0.1:1/", .method = methods[i]},
                      "method");
    check_invalid(&inside, &(mortise_http_request){.url = "http://127.0.0.1:1/", .flags = 2},
                  "flag");
    check_invalid(&inside, &(mortise_http_request){.url = "http://127.0.0.1:1/", .body_length = 1},
                  "body");
    inside_close(&inside);
}

/* An old plugin's struct ends behind the URL. */
static void a_short_struct_is_fine(void **state)
{
    struct inside inside;
    struct fetch fetch = {.path = "/bytes/3"};
    (void)state;
    inside_open(&inside, NULL);
    memset(&fetch.request, 0xff, sizeof(fetch.request));
    fetch.request.size = offsetof(mortise_http_request, headers);
    fetch.request.flags = 0;
    fetch.request.method = NULL;
    assert_inside(&inside, MORTISE_OK, send_it, &fetch);
    assert_string_equal(fetch.body, "xxx");
    fetch.request.size = 8;
    assert_inside(&inside, MORTISE_INVALID, send_it, &fetch);
    inside_close(&inside);
}

static void redirects_are_followed_when_asked(void **state)
{
    struct inside inside;
    char chain[200];
    (void)state;
    inside_open(&inside, NULL);
    struct fetch fetch = {.path = "/to//echo"};
    assert_inside(&inside, MORTISE_OK, send_it, &fetch);
    assert_int_equal(fetch.status, 302);
    fetch.request.max_redirects = 1;
    assert_inside(&inside, MORTISE_OK, send_it, &fetch);
    assert_int_equal(fetch.status, 200);
    assert_non_null(strstr(fetch.last_url, "/echo"));
    assert_string_equal(fetch.type, "text/x"); /* of the last response alone */
    fetch.path = "/to//to//echo";
    assert_inside(&inside, MORTISE_FAILED, send_it, &fetch);
    assert_non_null(strstr(inside.said, "redirects too often"));
    snprintf(chain, sizeof(chain), "/to/file:///etc/passwd");
    fetch.path = chain;
    assert_inside(&inside, MORTISE_FAILED, send_it, &fetch);
    assert_non_null(strstr(inside.said, "neither http nor https"));
    fetch.path = "/to//echo";
    fetch.request.method = "DELETE"; /* is not repeated elsewhere */
    assert_inside(&inside, MORTISE_OK, send_it, &fetch);
    assert_int_equal(fetch.status, 302);
    inside_close(&inside);
}

static void limits_hold(void **state)
{
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    struct fetch fetch = {.path = "/bytes/1000", .request.max_bytes = 1000};
    assert_inside(&inside, MORTISE_OK, send_it, &fetch);
    assert_int_equal(fetch.body_length, 1000);
    fetch.request.max_bytes = 999;
    assert_inside(&inside, MORTISE_FAILED, send_it, &fetch);
    assert_non_null(strstr(inside.said, "has more than 999 bytes"));
    fetch.request.max_bytes = 0;
    fetch.path = "/endless";
    assert_inside(&inside, MORTISE_FAILED, send_it, &fetch);
    assert_non_null(strstr(inside.said, "has more than 10485760 bytes"));
    static const char *const heads[] = {"/heads", "/head"};
    for (size_t i = 0; i < 2; i++) {
        fetch.path = heads[i];
        assert_inside(&inside, MORTISE_FAILED, send_it, &fetch);
        assert_non_null(strstr(inside.said, "sent too many headers"));
    }
    inside_close(&inside);
}

static void time_is_limited(void **state)
{
    struct inside inside;
    struct fetch fetch = {.path = "/silent", .request.timeout_ms = 100};
    (void)state;
    inside_open(&inside, NULL);
    int64_t start = clock_ms();
    assert_inside(&inside, MORTISE_FAILED, send_it, &fetch);
    assert_true(clock_ms() - start < 5000);
    assert_string_equal(inside.category, "timeout");
    assert_non_null(strstr(inside.said, "http.timeout: '127.0.0.1:"));
    inside_close(&inside);
}

static void *cancel_soon(void *data)
{
    usleep(100000);
    cancel_trigger(data);
    return NULL;
}

static void a_cancel_ends_it(void **state)
{
    struct inside inside;
    struct fetch fetch = {.path = "/silent"};
    pthread_t thread;
    (void)state;
    inside_open(&inside, NULL);
    inside.cancel = cancel_new();
    int64_t start = clock_ms();
    pthread_create(&thread, NULL, cancel_soon, inside.cancel);
    assert_inside(&inside, MORTISE_CANCELLED, send_it, &fetch);
    assert_true(clock_ms() - start < 5000);
    assert_string_equal(inside.category, "cancelled");
    pthread_join(thread, NULL);
    cancel_unref(inside.cancel);
    inside_close(&inside);
}

static bool take_some(void *data, const void *bytes, size_t length)
{
    size_t *taken = data;
    assert_int_equal(*(const char *)bytes, 'x');
    *taken += length;
    return *taken < 500000;
}

static void pieces_are_handed_on(void **state)
{
    struct inside inside;
    size_t taken = 0;
    struct fetch fetch = {.path = "/bytes/400000",
                          .request = {.received = take_some, .received_data = &taken}};
    (void)state;
    inside_open(&inside, NULL);
    assert_inside(&inside, MORTISE_OK, send_it, &fetch);
    assert_int_equal(taken, 400000);
    assert_int_equal(fetch.body_length, 0);
    fetch.request.max_bytes = 399999; /* counts here too */
    taken = 0;
    assert_inside(&inside, MORTISE_FAILED, send_it, &fetch);
    fetch.request.max_bytes = 0;
    taken = 200000;
    assert_inside(&inside, MORTISE_CANCELLED, send_it, &fetch);
    inside_close(&inside);
}

static void public_only_means_it(void **state)
{
    static const char *const hosts[] = {"127.0.0.1",  "localhost",          "[::1]", "0",
                                        "2130706433", "[::ffff:127.0.0.1]", "0x7f.1"};
    struct inside inside;
    char url[200];
    (void)state;
    inside_open(&inside, NULL);
    setenv("http_proxy", "http://127.0.0.1:1/", 1); /* is not asked */
    int before = atomic_load(&web.connections);
    for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
        struct fetch fetch = {.request = {.url = url, .flags = MORTISE_HTTP_PUBLIC_ONLY}};
        snprintf(url, sizeof(url), "http://%s:%d/echo", hosts[i], web.port);
        mortise_status status = inside_call(&inside, send_it, &fetch);
        if (status == MORTISE_FAILED && strstr(inside.said, "resolve"))
            continue; /* a name that is not known here */
        assert_int_equal(status, MORTISE_DENIED);
        assert_string_equal(inside.category, "forbidden");
        assert_non_null(strstr(inside.said, "not public"));
    }
    assert_int_equal(atomic_load(&web.connections), before);
    unsetenv("http_proxy");
    /* A connection that is there already does not help. */
    struct fetch fetch = {.path = "/echo"};
    assert_inside(&inside, MORTISE_OK, send_it, &fetch);
    fetch.request.flags = MORTISE_HTTP_PUBLIC_ONLY;
    assert_inside(&inside, MORTISE_DENIED, send_it, &fetch);
    inside_close(&inside);
}

static void connections_stay(void **state)
{
    struct inside inside;
    struct fetch fetch = {.path = "/bytes/10"};
    (void)state;
    inside_open(&inside, NULL);
    int before = atomic_load(&web.connections);
    for (int i = 0; i < 5; i++)
        assert_inside(&inside, MORTISE_OK, send_it, &fetch);
    assert_int_equal(atomic_load(&web.connections), before + 1);
    inside_close(&inside);
}

static void what_is_not_there_is_told(void **state)
{
    struct inside inside;
    struct fetch fetch = {.request.url = "http://user:secret@127.0.0.1:1/path?key=k"};
    (void)state;
    inside_open(&inside, NULL);
    assert_inside(&inside, MORTISE_FAILED, send_it, &fetch);
    assert_string_equal(inside.category, "unavailable");
    assert_non_null(strstr(inside.said, "http.unavailable: '127.0.0.1:1' cannot be reached: "));
    assert_null(strstr(inside.said, "secret"));
    inside_close(&inside);
}

static void *fetch_ten(void *data)
{
    struct inside inside = *(struct inside *)data;
    for (int i = 0; i < 10; i++) {
        struct fetch fetch = {.path = "/bytes/2000"};
        if (inside_call(&inside, send_it, &fetch) != MORTISE_OK || fetch.body_length != 2000)
            return data;
    }
    return NULL;
}

static void threads_ask_at_once(void **state) /* F31 */
{
    struct inside inside;
    pthread_t threads[6];
    void *failed;
    (void)state;
    inside_open(&inside, NULL);
    for (int i = 0; i < 6; i++)
        pthread_create(&threads[i], NULL, fetch_ten, &inside);
    for (int i = 0; i < 6; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    inside_close(&inside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_come_back),
        cmocka_unit_test(requests_are_sent_as_they_are),
        cmocka_unit_test(what_is_no_request_is_refused),
        cmocka_unit_test(a_short_struct_is_fine),
        cmocka_unit_test(redirects_are_followed_when_asked),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(time_is_limited),
        cmocka_unit_test(a_cancel_ends_it),
        cmocka_unit_test(pieces_are_handed_on),
        cmocka_unit_test(public_only_means_it),
        cmocka_unit_test(connections_stay),
        cmocka_unit_test(what_is_not_there_is_told),
        cmocka_unit_test(threads_ask_at_once),
    };
    static const char *const proxies[] = {"http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY",
                                          "ALL_PROXY"};
    for (size_t i = 0; i < sizeof(proxies) / sizeof(*proxies); i++)
        unsetenv(proxies[i]);
    web_open(&web);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    web_close(&web);
    return failed;
}
