/* fetch(): requests without a call; and what both kinds of request tell while they are under way. */
#include "inside.h"
#include "web.h"

#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cancel.h"

static struct web web;
static struct inside inside;

/* What a request told, in order: "200 text/event-stream|one|two|". */
struct heard {
    char text[1024];
    int stop_fd; /* is written to once the head is there; -1: is not */
    struct cancel *cancel; /* is triggered then; or NULL */
    bool enough; /* received() says so */
};

static void note(struct heard *heard, const char *text, size_t length)
{
    size_t at = strlen(heard->text);
    snprintf(heard->text + at, sizeof(heard->text) - at, "%.*s|", (int)length, text);
}

static void hear_head(void *data, uint32_t status, const mortise_http_header *headers, size_t count)
{
    struct heard *heard = data;
    char line[128];
    const char *type = "none";
    for (size_t i = 0; i < count; i++)
        if (strcmp(headers[i].name, "Content-Type") == 0)
            type = headers[i].value;
    snprintf(line, sizeof(line), "%u %s", status, type);
    note(heard, line, strlen(line));
    if (heard->stop_fd >= 0)
        assert_int_equal(eventfd_write(heard->stop_fd, 1), 0);
    if (heard->cancel)
        cancel_trigger(heard->cancel);
}

static bool hear_piece(void *data, const void *bytes, size_t length)
{
    struct heard *heard = data;
    note(heard, bytes, length);
    return !heard->enough;
}

/* ---- asking ---- */

static char url[256];

static mortise_http_request request_for(const char *path)
{
    snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", web.port, path);
    return (mortise_http_request){.size = sizeof(mortise_http_request), .url = url};
}

static mortise_http_request request_heard(const char *path, struct heard *heard)
{
    mortise_http_request request = request_for(path);
    request.answered = hear_head;
    request.received = hear_piece;
    request.received_data = heard;
    *heard = (struct heard){.stop_fd = -1};
    return request;
}

static const mortise_http *http(void)
{
    const mortise_http *found = mortise_http_outside(inside_host(&inside, "alpha"));
    assert_non_null(found);
    return found;
}

static mortise_status fetch(const mortise_http_request *request, mortise_http_response *response)
{
    *response = (mortise_http_response){.size = sizeof(*response)};
    mortise_status status = http()->fetch(inside_host(&inside, "alpha"), request, response);
    assert_int_equal(response->size, sizeof(*response));
    assert_true((status == MORTISE_OK) == !response->problem);
    return status;
}

static void release(mortise_http_response *response)
{
    http()->release(inside_host(&inside, "alpha"), response);
    assert_null(response->body);
    assert_null(response->problem);
    assert_null(response->memory);
    assert_int_equal(response->size, sizeof(*response));
    http()->release(inside_host(&inside, "alpha"), response);
}

static void check_fails(const mortise_http_request *request, mortise_status status,
                        const char *problem)
{
    mortise_http_response response;
    assert_int_equal(fetch(request, &response), status);
    if (!strstr(response.problem, problem))
        fail_msg("'%s' is not in: %s", problem, response.problem);
    assert_int_equal(response.status, 0);
    assert_null(response.body);
    release(&response);
}

/* ---- tests ---- */

static void an_answer_lives_until_it_is_released(void **state)
{
    mortise_http_request request = request_for("/echo");
    mortise_http_response response, other;
    (void)state;
    request.body = "abc";
    request.body_length = 3;
    request.stop_fd = -1; /* none */
    assert_int_equal(fetch(&request, &response), MORTISE_OK);
    assert_int_equal(fetch(&request, &other), MORTISE_OK);
    release(&other);
    assert_int_equal(response.status, 200);
    assert_string_equal(response.content_type, "text/x");
    assert_string_equal(response.url, url);
    assert_non_null(strstr(response.body, "POST /echo HTTP/1.1\r\n"));
    assert_int_equal(strlen(response.body), response.body_length);
    assert_true(response.header_count > 3);
    release(&response);
}

static void what_fails_says_why(void **state)
{
    mortise_http_request request = request_for("/bytes/100");
    (void)state;
    request.max_bytes = 99;
    check_fails(&request, MORTISE_FAILED, "has more than 99 bytes");
    request = request_for("/silent");
    request.timeout_ms = 50;
    check_fails(&request, MORTISE_FAILED, "did not answer in time");
    request = request_for("/echo");
    request.flags = MORTISE_HTTP_PUBLIC_ONLY;
    check_fails(&request, MORTISE_DENIED, "not public");
    request.flags = 0;
    request.url = "http://127.0.0.1:1/";
    check_fails(&request, MORTISE_FAILED, "'127.0.0.1:1' cannot be reached");
    request.url = "ftp://127.0.0.1/";
    check_fails(&request, MORTISE_INVALID, "only http");
    request = request_for("/echo");
    request.stop_fd = 1000;
    check_fails(&request, MORTISE_INVALID, "no open descriptor");
    check_fails(NULL, MORTISE_INVALID, "no URL");
}

/* The older members are there, but not that by which it could be freed. */
static void an_answer_needs_room_for_its_memory(void **state)
{
    mortise_http_request request = request_for("/echo");
    mortise_http_response response = {.size = offsetof(mortise_http_response, memory)};
    (void)state;
    assert_int_equal(http()->fetch(inside_host(&inside, "alpha"), &request, &response),
                     MORTISE_INVALID);
    assert_int_equal(http()->fetch(inside_host(&inside, "alpha"), &request, NULL), MORTISE_INVALID);
    http()->release(inside_host(&inside, "alpha"), &response);
    http()->release(inside_host(&inside, "alpha"), NULL);
}

static void the_head_comes_first(void **state)
{
    struct heard heard;
    mortise_http_request request = request_heard("/stream", &heard);
    mortise_http_response response;
    (void)state;
    assert_int_equal(fetch(&request, &response), MORTISE_OK);
    assert_string_equal(heard.text, "200 text/event-stream|one|two|three|");
    assert_int_equal(response.status, 200);
    assert_string_equal(response.content_type, "text/event-stream");
    assert_int_equal(response.body_length, 0);
    release(&response);
    request = request_heard("/status/204", &heard);
    assert_int_equal(fetch(&request, &response), MORTISE_OK);
    assert_string_equal(heard.text, "204 none|");
    release(&response);
}

static void only_the_last_answer_is_told(void **state)
{
    struct heard heard;
    mortise_http_request request = request_heard("/to//to//bytes/3", &heard);
    mortise_http_response response;
    (void)state;
    request.max_redirects = 2;
    assert_int_equal(fetch(&request, &response), MORTISE_OK);
    assert_string_equal(heard.text, "200 none|xxx|");
    release(&response);
    request = request_heard("/to//bytes/3", &heard);
    assert_int_equal(fetch(&request, &response), MORTISE_OK);
    assert_string_equal(heard.text, "302 none|moved|");
    release(&response);
    request = request_heard("/to//to//bytes/3", &heard);
    request.max_redirects = 1;
    check_fails(&request, MORTISE_FAILED, "redirects too often");
    assert_string_equal(heard.text, "");
}

/* A stream that would stay open for ever, which nothing but the descriptor ends. */
static void a_descriptor_ends_it(void **state)
{
    struct heard heard;
    mortise_http_request request = request_heard("/held", &heard);
    (void)state;
    request.timeout_ms = -1;
    request.max_bytes = SIZE_MAX;
    request.stop_fd = heard.stop_fd = eventfd(0, EFD_CLOEXEC);
    check_fails(&request, MORTISE_CANCELLED, "was cancelled");
    assert_string_equal(heard.text, "200 text/event-stream|");
    eventfd_t count;
    assert_int_equal(eventfd_read(request.stop_fd, &count), 0); /* nobody else has read it */
    close(request.stop_fd);
}

static void the_end_of_a_pipe_ends_it(void **state)
{
    mortise_http_request request = request_for("/silent");
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    close(ends[1]);
    request.stop_fd = ends[0];
    check_fails(&request, MORTISE_CANCELLED, "was cancelled");
    close(ends[0]);
}

static void the_receiver_ends_it(void **state)
{
    struct heard heard;
    mortise_http_request request = request_heard("/stream", &heard);
    (void)state;
    heard.enough = true;
    check_fails(&request, MORTISE_CANCELLED, "was cancelled");
    assert_string_equal(heard.text, "200 text/event-stream|one|");
}

static void time_and_size_have_no_limit_when_told_so(void **state)
{
    mortise_http_request request = request_for("/bytes/11000000");
    mortise_http_response response;
    (void)state;
    check_fails(&request, MORTISE_FAILED, "has more than 10485760 bytes");
    request.timeout_ms = INT64_MIN;
    request.max_bytes = SIZE_MAX;
    assert_int_equal(fetch(&request, &response), MORTISE_OK);
    assert_int_equal(response.body_length, 11000000);
    release(&response);
}

/* ---- the same in a call ---- */

static mortise_status send_it(mortise_call *call, void *data)
{
    mortise_http_response response = {.size = sizeof(response)};
    mortise_status status = mortise_http_of(call)->send(call, data, &response);
    assert_true((status == MORTISE_OK) == !response.problem);
    assert_null(response.memory);
    if (response.problem)
        assert_non_null(strstr(response.problem, "was cancelled"));
    return status;
}

static void a_call_hears_the_same(void **state)
{
    struct heard heard;
    mortise_http_request request = request_heard("/stream", &heard);
    (void)state;
    assert_inside(&inside, MORTISE_OK, send_it, &request);
    assert_string_equal(heard.text, "200 text/event-stream|one|two|three|");
    request = request_heard("/held", &heard);
    request.timeout_ms = -1;
    request.stop_fd = heard.stop_fd = eventfd(0, EFD_CLOEXEC);
    assert_inside(&inside, MORTISE_CANCELLED, send_it, &request);
    assert_string_equal(heard.text, "200 text/event-stream|");
    close(request.stop_fd);
}

static void a_cancelled_call_ends_it_without_a_limit(void **state)
{
    struct heard heard;
    mortise_http_request request = request_heard("/held", &heard);
    (void)state;
    request.timeout_ms = -1;
    inside.cancel = heard.cancel = cancel_new();
    assert_inside(&inside, MORTISE_CANCELLED, send_it, &request);
    cancel_unref(inside.cancel);
    inside.cancel = NULL;
}

/* An older plugin's structs end where those of its time did. */
static mortise_status send_as_before(mortise_call *call, void *data)
{
    mortise_http_request request = *(mortise_http_request *)data;
    mortise_http_response response;
    memset(&response, 0x5a, sizeof(response));
    request.size = offsetof(mortise_http_request, answered);
    response.size = offsetof(mortise_http_response, problem);
    mortise_status status = mortise_http_of(call)->send(call, &request, &response);
    assert_int_equal(((const unsigned char *)&response.problem)[0], 0x5a);
    return status;
}

static void an_older_plugin_is_served_as_before(void **state)
{
    struct heard heard;
    mortise_http_request request = request_heard("/stream", &heard);
    (void)state;
    request.stop_fd = 1000;
    assert_inside(&inside, MORTISE_OK, send_as_before, &request);
    assert_string_equal(heard.text, "one|two|three|");
}

/* ---- */

static void *fetch_ten(void *data)
{
    for (int i = 0; i < 10; i++) {
        mortise_http_response response = {.size = sizeof(response)};
        char own[64];
        snprintf(own, sizeof(own), "http://127.0.0.1:%d/bytes/2000", web.port);
        const mortise_http_request request = {.size = sizeof(request), .url = own};
        const mortise_host *host = inside_host(&inside, i % 2 ? "alpha" : "beta");
        mortise_status status = mortise_http_outside(host)->fetch(host, &request, &response);
        bool good = status == MORTISE_OK && response.body_length == 2000;
        mortise_http_outside(host)->release(host, &response);
        if (!good)
            return data;
    }
    return NULL;
}

static void threads_fetch_at_once(void **state)
{
    pthread_t threads[4];
    void *failed;
    (void)state;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, fetch_ten, &inside);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_lives_until_it_is_released),
        cmocka_unit_test(what_fails_says_why),
        cmocka_unit_test(an_answer_needs_room_for_its_memory),
        cmocka_unit_test(the_head_comes_first),
        cmocka_unit_test(only_the_last_answer_is_told),
        cmocka_unit_test(a_descriptor_ends_it),
        cmocka_unit_test(the_end_of_a_pipe_ends_it),
        cmocka_unit_test(the_receiver_ends_it),
        cmocka_unit_test(time_and_size_have_no_limit_when_told_so),
        cmocka_unit_test(a_call_hears_the_same),
        cmocka_unit_test(a_cancelled_call_ends_it_without_a_limit),
        cmocka_unit_test(an_older_plugin_is_served_as_before),
        cmocka_unit_test(threads_fetch_at_once),
    };
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    unsetenv("ALL_PROXY");
    web_open(&web);
    inside_open(&inside, NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    inside_close(&inside);
    web_close(&web);
    return failed;
}
