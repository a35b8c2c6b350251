/* Out of memory is an error like any other: each allocation of each function fails once. */
#include "inside.h"

#include "failing.h"
#include "web.h"

struct trial {
    mortise_status (*use)(mortise_call *call);
    int allowed; /* allocations */
    bool failed; /* one more was tried */
};

static mortise_status save(mortise_call *call)
{
    return mortise_artifacts_of(call)->save(call, MORTISE_OF_USER, "x", "a/b", "x", 1, NULL);
}

static mortise_status load(mortise_call *call)
{
    const mortise_artifact *artifact;
    mortise_status status =
        mortise_artifacts_of(call)->load(call, MORTISE_OF_USER, "kept", 0, &artifact);
    if (status == MORTISE_OK)
        assert_memory_equal(artifact->data, "kept", 4);
    return status;
}

static mortise_status list(mortise_call *call)
{
    const mortise_artifact *const *all;
    size_t count;
    return mortise_artifacts_of(call)->list(call, MORTISE_OF_USER, &all, &count);
}

static mortise_status add(mortise_call *call)
{
    return mortise_memory_of(call)->add(call, "some words", 10, NULL);
}

static mortise_status search(mortise_call *call)
{
    const mortise_memory_entry *const *all;
    size_t count;
    char query[600] = "kept it ";
    memset(query + 8, 'x', 500); /* a word that grows more than once while it is written */
    mortise_status status = mortise_memory_of(call)->search(call, query, 5, &all, &count);
    if (status == MORTISE_OK)
        assert_int_equal(count, 1);
    return status;
}

static mortise_status forget(mortise_call *call)
{
    mortise_status status = mortise_memory_of(call)->forget(call, 1000);
    return status == MORTISE_NOT_FOUND ? MORTISE_OK : status;
}

static mortise_status set(mortise_call *call)
{
    return mortise_state_of(call)->set(call, MORTISE_OF_SESSION, "k", "1");
}

static mortise_status get(mortise_call *call)
{
    const char *json;
    return mortise_state_of(call)->get(call, MORTISE_OF_USER, "kept", &json);
}

static mortise_status replace(mortise_call *call)
{
    return mortise_state_of(call)->replace(call, MORTISE_OF_USER, "kept", "1", "1");
}

static mortise_status keys(mortise_call *call)
{
    const char *const *all;
    size_t count;
    return mortise_state_of(call)->keys(call, MORTISE_OF_USER, "", &all, &count);
}

/* Nobody listens there: the request itself fails. */
static mortise_status ask(mortise_call *call)
{
    const mortise_http_header header = {"X", "y"};
    mortise_http_request request = {.size = sizeof(request),
                                    .url = "http://127.0.0.1:1/",
                                    .headers = &header,
                                    .header_count = 1};
    mortise_http_response response = {.size = sizeof(response)};
    mortise_status status = mortise_http_of(call)->send(call, &request, &response);
    return status == MORTISE_FAILED ? MORTISE_OK : status;
}

static mortise_status keep_something(mortise_call *call, void *data)
{
    (void)data;
    mortise_artifacts_of(call)->save(call, MORTISE_OF_USER, "kept", "a/b", "kept", 4, NULL);
    mortise_memory_of(call)->add(call, "kept it", 7, NULL);
    return mortise_state_of(call)->set(call, MORTISE_OF_USER, "kept", "1");
}

static mortise_status try_it(mortise_call *call, void *data)
{
    struct trial *trial = data;
    fail_after(trial->allowed);
    mortise_status status = trial->use(call);
    trial->failed = fail_never();
    return status;
}

/* There may have been no memory for the reason either. */
static bool says_so(const char *said)
{
    return strstr(said, "out of memory") || strstr(said, "Cannot allocate memory") ||
           strcmp(said, "Execution failed: ") == 0;
}

static void check(struct inside *inside, mortise_status (*use)(mortise_call *call))
{
    struct trial trial = {.use = use, .failed = true};
    for (; trial.failed; trial.allowed++) {
        mortise_status status = inside_call(inside, try_it, &trial);
        if (status != MORTISE_OK) {
            assert_true(trial.failed);
            assert_true(status == MORTISE_NO_MEMORY || status == MORTISE_FAILED);
            if (!says_so(inside->said))
                fail_msg("%s", inside->said);
        }
    }
}

static void each_function_survives(void **state)
{
    mortise_status (*const functions[])(mortise_call *) = {
        save, load, list, add, search, forget, set, get, replace, keys, ask};
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    assert_inside(&inside, MORTISE_OK, keep_something, NULL);
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
        check(&inside, functions[i]);
    inside_reopen(&inside); /* what opens the file and the library */
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
        check(&inside, functions[i]);
    inside_close(&inside);
}

/* ---- outside of a call ---- */

static void hear_head(void *data, uint32_t status, const mortise_http_header *headers, size_t count)
{
    assert_int_equal(status, 200);
    assert_non_null(headers);
    *(size_t *)data += count;
}

/* Whatever it is that fails, it can be released, and the problem is told. */
static void a_fetch_survives(void **state)
{
    struct inside inside;
    struct web web;
    char url[64];
    size_t headers = 0;
    (void)state;
    inside_open(&inside, NULL);
    web_open(&web);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/echo", web.port);
    const mortise_host *host = inside_host(&inside, "alpha");
    const mortise_http *http = mortise_http_outside(host);
    const mortise_http_request request = {
        .size = sizeof(request), .url = url, .answered = hear_head, .received_data = &headers};
    int failed = 1;
    for (int allowed = 0; failed; allowed++) {
        mortise_http_response response = {.size = sizeof(response)};
        fail_after(allowed);
        mortise_status status = http->fetch(host, &request, &response);
        failed = fail_never();
        if (status == MORTISE_OK)
            assert_int_equal(strlen(response.body), response.body_length);
        else
            assert_true(failed && response.problem && *response.problem && !response.status);
        http->release(host, &response);
        assert_null(response.memory);
    }
    assert_true(headers >= 5);
    web_close(&web);
    inside_close(&inside);
}

static void making_them_survives(void **state)
{
    const struct services_settings settings = {.artifacts = "/a", .database = "/b", .grants = "{}"};
    struct services *services = NULL;
    (void)state;
    for (int allowed = 0; !services; allowed++) {
        fail_after(allowed);
        services = services_new(&settings);
        assert_true(!!services != !!fail_never());
    }
    services_unref(services);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_function_survives),
        cmocka_unit_test(a_fetch_survives),
        cmocka_unit_test(making_them_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
