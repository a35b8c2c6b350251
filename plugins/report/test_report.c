#include <mortise/test.h>

#include "report.c"

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static const mortise_test_result *check_status(mortise_test *test, const char *id)
{
    return mortise_test_run(test, &check_report_status_tool,
                            &(check_report_status_args){.task_id = id});
}

/* The id of a new report on bees. */
static void start(mortise_test *test, char id[64])
{
    const mortise_test_result *result = mortise_test_run(
        test, &generate_report_tool, &(generate_report_args){.topic = "bees", .sections = 2});
    id[0] = '\0';
    mortise_test_true(mortise_json_string(result->text, "task_id", id, 64) == MORTISE_OK);
    mortise_test_contains(result->text, ",\"status\":\"processing\"}");
}

static void writes_a_report(void) /* F32, F34, F35 */
{
    mortise_test *test = mortise_test_open("{\"step-ms\":1}");
    const mortise_test_result *result;
    char id[64], text[1024] = "";
    start(test, id);
    for (int i = 0; i < 5000 && strstr((result = check_status(test, id))->text, "processing"); i++)
        pause_ms(1);
    mortise_test_contains(result->text, "\"status\":\"completed\"");
    mortise_json_string(result->text, "result", text, sizeof(text));
    mortise_test_contains(text, "# Report on bees\n\nThis is demo data");
    mortise_test_contains(text, "## Section 2\n");
    mortise_test_json(check_status(test, "another"), "{\"error\":\"Task not found\"}");
    mortise_test_close(test);
}

/* What takes minutes does not hold up the end. */
static void stops_with_the_plugin(void) /* F33 */
{
    mortise_test *test = mortise_test_open("{\"step-ms\":600000}");
    char id[64];
    start(test, id);
    mortise_test_contains(check_status(test, id)->text, "processing");
    mortise_test_close(test);
}

int main(void)
{
    writes_a_report();
    stops_with_the_plugin();
    mortise_test_refused("{\"step-ms\":-1}", "step-ms");
    mortise_test_refused("{\"step-ms\":\"1\"}", "step-ms");
    return mortise_test_status();
}
