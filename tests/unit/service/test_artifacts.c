#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "service/artifacts.h"

static char folder[] = "/tmp/artifacts.XXXXXX";
static char store_folder[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(store_folder, sizeof(store_folder), "%s/a/b", folder);
    return 0;
}

static int remove_folder(void **state)
{
    char command[96];
    (void)state;
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command);
}

static void check_saved(const char *owner, const char *name, const char *place)
{
    const struct artifacts store = {store_folder};
    struct text path = TEXT_INIT, wanted = TEXT_INIT, bytes = TEXT_INIT;
    struct error error = ERROR_INIT;
    struct stat status;
    if (!artifacts_save(&store, owner, name, "a\0b", 3, &path, &error))
        fail_msg("%s", error.message);
    text_printf(&wanted, "%s/%s", store_folder, place);
    assert_string_equal(path.data, wanted.data);
    assert_true(file_read(path.data, 100, &bytes, &error));
    assert_int_equal(bytes.length, 3);
    assert_memory_equal(bytes.data, "a\0b", 3);
    assert_int_equal(stat(path.data, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    text_release(&path);
    text_release(&wanted);
    text_release(&bytes);
}

static void files_are_private_and_new(void **state) /* D12 */
{
    struct stat status;
    (void)state;
    check_saved("run_1", "call_a", "run_1/call_a");
    check_saved("run_1", "call_a", "run_1/call_a.1");
    check_saved("run_1", "call_a", "run_1/call_a.2");
    assert_int_equal(stat(store_folder, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
}

static void no_name_leads_elsewhere(void **state)
{
    (void)state;
    check_saved("../up", "../../x", "_._up/_._.._x");
    check_saved("..", "", "_./_");
    check_saved("run 2", ".hidden/\xC3\xA4", "run_2/_hidden___");
}

static void a_failure_leaves_nothing(void **state)
{
    const struct artifacts store = {"/proc/nowhere"};
    struct text path = TEXT_INIT;
    struct error error = ERROR_INIT;
    (void)state;
    assert_false(artifacts_save(&store, "run", "call", "x", 1, &path, &error));
    assert_non_null(strstr(error.message, "/proc/nowhere"));
    text_release(&path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_private_and_new),
        cmocka_unit_test(no_name_leads_elsewhere),
        cmocka_unit_test(a_failure_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
