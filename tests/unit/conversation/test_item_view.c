/* Results with attachments, as hooks see them and give them back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "conversation/item_view.h"
#include "unit/base/failing.h"

static struct item *picture(void)
{
    char mime[] = "image/png", name[] = "a.png", uri[] = "x:y", bytes[] = "abc";
    const struct attachment parts[] = {{.mime_type = mime, .name = name, .data = {bytes, 3}},
                                       {.mime_type = mime, .uri = uri}};
    struct item *item = item_output("c1", "out", 3, false);
    assert_non_null(item);
    for (size_t i = 0; i < 2; i++)
        assert_true(item_attach(item, &parts[i]));
    return item;
}

#define OUTPUT(rest)                                                                               \
    "{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"out\",\"is_error\":"       \
    "false" rest "}"
#define FIRST  "{\"index\":0,\"mime_type\":\"image/png\",\"name\":\"a.png\",\"bytes\":3}"
#define SECOND "{\"index\":1,\"mime_type\":\"image/png\",\"uri\":\"x:y\"}"

static void assert_view(const struct item *item, const char *json)
{
    struct text text = TEXT_INIT;
    item_write_view(item, &text);
    assert_string_equal(text_cstr(&text), json);
    text_release(&text);
}

static void test_views(void **state)
{
    (void)state;
    struct item *item = picture();
    assert_view(item, OUTPUT(",\"parts\":[" FIRST "," SECOND "]"));
    item_unref(item);
    item = item_output("c1", "out", 3, false);
    assert_view(item, OUTPUT(""));
    item_unref(item);
}

static void test_what_comes_back(void **state)
{
    (void)state;
    static const struct {
        const char *json, *view; /* NULL: refused */
    } cases[] = {
        {OUTPUT(",\"parts\":[" FIRST "," SECOND "]"), OUTPUT(",\"parts\":[" FIRST "," SECOND "]")},
        {OUTPUT(""), OUTPUT(",\"parts\":[" FIRST "," SECOND "]")},
        {OUTPUT(",\"parts\":[]"), OUTPUT("")},
        {OUTPUT(",\"parts\":[{\"index\":0}]"), OUTPUT(",\"parts\":[" FIRST "]")},
        {OUTPUT(",\"parts\":[{\"index\":2}]"), NULL},
        {OUTPUT(",\"parts\":[{\"index\":1},{\"index\":1}]"), NULL}, /* each once */
        {OUTPUT(",\"parts\":[{\"index\":1},{\"index\":0},{\"index\":1}]"), NULL},
        {OUTPUT(",\"parts\":[{\"index\":-1}]"), NULL},
        {OUTPUT(",\"parts\":[{}]"), NULL},
        {OUTPUT(",\"parts\":[0]"), NULL},
        {OUTPUT(",\"parts\":{}"), NULL},
        {OUTPUT(",\"more\":1"), NULL},
        {"[", NULL},
        {"7", NULL},
    };
    struct item *old = picture();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error error = ERROR_INIT;
        struct item *item = item_from_view(cases[i].json, strlen(cases[i].json), old, &error);
        assert_int_equal(item != NULL, cases[i].view != NULL);
        if (item)
            assert_view(item, cases[i].view);
        else
            assert_int_equal(error.kind, ERROR_BAD_REQUEST);
        item_unref(item);
    }
    item_unref(old);
    /* Other items have no parts. */
    struct error error = ERROR_INIT;
    struct item *call = item_call("c1", "f", "{}", 2, true);
    const char *json =
        "{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":\"{}\","
        "\"parts\":[]}";
    assert_null(item_from_view(json, strlen(json), call, &error));
    item_unref(call);
}

static void test_descriptions(void **state)
{
    (void)state;
    static const struct {
        size_t bytes;
        const char *said;
    } cases[] = {{0, "0 bytes"},     {1, "1 byte"},        {999, "999 bytes"},
                 {1000, "1.0 kB"},   {12345, "12.3 kB"},   {999949, "999.9 kB"},
                 {999950, "1.0 MB"}, {10485760, "10.5 MB"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char mime[] = "a/b", byte[] = "", expected[64];
        const struct attachment part = {.mime_type = mime, .data = {byte, cases[i].bytes}};
        struct text text = TEXT_INIT;
        attachment_describe(&part, &text);
        snprintf(expected, sizeof(expected), "a/b, %s", cases[i].said);
        assert_string_equal(text_cstr(&text), expected);
        text_release(&text);
    }
}

static void test_without_memory(void **state)
{
    (void)state;
    struct item *old = picture();
    bool failed = true;
    for (int n = 0; failed && n < 2000; n++) {
        struct text text = TEXT_INIT;
        struct error error = ERROR_INIT;
        fail_after(n);
        item_write_view(old, &text);
        struct item *item =
            text.failed ? NULL : item_from_view(text.data, text.length, old, &error);
        failed = fail_never();
        assert_true(item || failed);
        assert_true(item || text.failed || error.kind == ERROR_INTERNAL);
        assert_true(!item || item->attachment_count == 2);
        item_unref(item);
        text_release(&text);
    }
    assert_false(failed);
    item_unref(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_what_comes_back),
        cmocka_unit_test(test_descriptions),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
