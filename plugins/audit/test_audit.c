#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/plugin_test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "plugin/hooks.h"

static struct timeline timeline; /* nobody listens */

static struct hook_setting setting_of(struct registry *registry)
{
    return (struct hook_setting){.registry = registry, .timeline = &timeline};
}

static void make_path(char path[64])
{
    snprintf(path, 64, "/tmp/test_audit.XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
}

static void submit(struct registry *registry, const char *prompt)
{
    struct hook_setting setting = setting_of(registry);
    struct hook_outcome outcome = {0};
    struct item *item = item_message(ROLE_USER, PART_INPUT_TEXT, prompt, strlen(prompt));
    hooks_prompt_submit(&setting, &item, &outcome);
    assert_int_equal(outcome.verdict, MORTISE_CONTINUE);
    assert_false(outcome.failed);
    item_unref(item);
}

static void writes_one_line_per_event(void **state) /* M4 */
{
    char path[64], config[128];
    struct error error = ERROR_INIT;
    struct text lines = TEXT_INIT;
    struct stat status;
    (void)state;
    make_path(path);
    snprintf(config, sizeof(config), "{\"file\":\"%s\"}", path);
    struct registry *registry = plugin_test_load(config);
    submit(registry, "two\nlines");
    struct hook_setting setting = setting_of(registry);
    hooks_abort(&setting, "because");
    registry_unref(registry);

    assert_true(file_read(path, 65536, &lines, &error));
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    char *second = strchr(lines.data, '\n') + 1;
    json_t *submitted = json_parse(lines.data, (size_t)(second - lines.data), NULL, &error);
    json_t *aborted = json_parse(second, strlen(second), NULL, &error);
    assert_string_equal(json_member_string(submitted, "event"), "prompt_submit");
    assert_string_equal(json_member_string(aborted, "event"), "on_abort");
    assert_string_equal(json_member_string(aborted, "reason"), "because");
    assert_null(strchr(strchr(second, '\n') + 1, '\n'));
    json_decref(submitted);
    json_decref(aborted);
    text_release(&lines);
    unlink(path);
}

static void does_nothing_without_a_file(void **state)
{
    (void)state;
    unsetenv("MORTISE_AUDIT_FILE");
    struct registry *registry = plugin_test_load("{}");
    submit(registry, "hello");
    registry_unref(registry);
}

static void refuses_a_file_it_cannot_write(void **state)
{
    struct error error = ERROR_INIT;
    char config[] = "{\"file\":\"/nonexistent/audit.jsonl\"}";
    struct registry *registry = registry_new();
    struct loader loader = {
        .registry = registry, .config = plugin_test_config, .config_context = config};
    (void)state;
    assert_false(loader_load(&loader, PLUGIN_FILE, &error));
    assert_non_null(strstr(error.message, "cannot write '/nonexistent/audit.jsonl'"));
    registry_unref(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_one_line_per_event),
        cmocka_unit_test(does_nothing_without_a_file),
        cmocka_unit_test(refuses_a_file_it_cannot_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
