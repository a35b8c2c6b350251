#include "../base/failing.h"
#include "cmocka_all.h"
#include "stderr_capture.h"

#include "base/log.h"
#include "plugin/host_api.h"

static void test_refuse_and_config(void **state)
{
    (void)state;
    struct host_api *api = host_api_new("text", strdup("{\"a\":1}"), NULL);
    const mortise_host *host = host_api_face(api);
    assert_int_equal(host->size, sizeof(*host));
    assert_int_equal(host->abi_major, MORTISE_ABI_MAJOR);
    assert_string_equal(host->config(host), "{\"a\":1}");
    assert_null(host->service(host, "mortise.artifacts/1"));
    assert_null(host_api_refusal(api));
    host->refuse(host, "first");
    host->refuse(host, "no key");
    assert_string_equal(host_api_refusal(api), "no key");
    host->refuse(host, NULL);
    assert_null(host_api_refusal(api));
    host_api_free(api);
    host_api_free(NULL);
}

/* One line each, with the plugin's name before it. */
static void test_log(void **state)
{
    (void)state;
    char lines[512];
    struct host_api *api = host_api_new("file", strdup("{}"), NULL);
    const mortise_host *host = host_api_face(api);
    log_set_level(LOG_NOTE);
    struct stderr_capture capture = capture_stderr();
    host->log(host, MORTISE_LOG_WARNING, "slow\nmortise: forged");
    host_api_set_name(api, "text");
    host->log(host, MORTISE_LOG_NOTE, "ready");
    host->log(host, MORTISE_LOG_DEBUG, "not shown");
    host->log(host, 99, "not shown");
    host->log(host, MORTISE_LOG_ERROR, NULL);
    captured_stderr(capture, lines, sizeof(lines));
    assert_string_equal(lines, "mortise: warning: file: slow mortise: forged\n"
                               "mortise: note: text: ready\n");
    log_set_level(LOG_WARNING);
    host_api_free(api);
}

static void test_no_memory(void **state)
{
    (void)state;
    fail_after(0);
    struct host_api *api = host_api_new("text", NULL, NULL);
    fail_never();
    assert_null(api);
    char *config = strdup("{}");
    fail_after(0);
    api = host_api_new("text", config, NULL);
    fail_never();
    assert_null(api);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refuse_and_config),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
