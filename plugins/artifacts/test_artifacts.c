#include <mortise/test.h>

#include "artifacts.c"

#include <stdlib.h>

#define SAVE(test, ...)                                                                            \
    mortise_test_run(test, &save_artifact_tool, &(save_artifact_args){__VA_ARGS__})
#define LOAD(test, ...)                                                                            \
    mortise_test_run(test, &load_artifact_tool, &(load_artifact_args){__VA_ARGS__})

static void keeps_versions(void) /* F29 */
{
    mortise_test *test =
        mortise_test_open_with(&(mortise_test_setup){.services = MORTISE_TEST_ARTIFACTS});
    mortise_test_context(test, "session", "s-1");
    mortise_test_json(SAVE(test, .name = "a\"b.txt", .content = "one", .mime_type = "text/plain",
                           .scope = "session"),
                      "{\"name\":\"a\\\"b.txt\",\"version\":1}");
    mortise_test_json(SAVE(test, .name = "a\"b.txt", .content = "two", .mime_type = "text/plain",
                           .scope = "session"),
                      "{\"name\":\"a\\\"b.txt\",\"version\":2}");
    mortise_test_text(LOAD(test, .name = "a\"b.txt", .scope = "session"), "two");
    mortise_test_text(LOAD(test, .name = "a\"b.txt", .version = 1, .scope = "session"), "one");
    mortise_test_error(LOAD(test, .name = "a\"b.txt", .scope = "user"), MORTISE_MISSING,
                       "no such version");
    mortise_test_error(LOAD(test, .name = "a\"b.txt", .version = 9, .scope = "session"),
                       MORTISE_MISSING, "no such version");
    mortise_test_json(LOAD(test, .scope = "session"),
                      "[{\"name\":\"a\\\"b.txt\",\"version\":2,\"mime_type\":\"text/plain\","
                      "\"bytes\":3}]");
    mortise_test_json(LOAD(test, .scope = "user"), "[]");
    mortise_test_close(test);
}

static void reads_long_texts_in_parts(void)
{
    enum { BYTES = 100000 };
    char *text = calloc(1, BYTES + 2), *whole = calloc(1, BYTES + 2);
    for (size_t i = 1; i < BYTES; i += 2) /* characters lie across the ends of the parts */
        memcpy(text + i, "\xC3\xA9", 2);
    text[0] = 'x';
    mortise_test *test =
        mortise_test_open_with(&(mortise_test_setup){.services = MORTISE_TEST_ARTIFACTS});
    mortise_test_context(test, "session", "s-1");
    SAVE(test, .name = "long.json", .content = text, .mime_type = "Application/JSON",
         .scope = "session");
    long offset = 0;
    for (int parts = 0; parts < 3; parts++) {
        const mortise_test_result *part =
            LOAD(test, .name = "long.json", .offset = offset, .scope = "session");
        const char *note = strstr(part->text, "\n[bytes "), *more = strstr(part->text, "offset ");
        mortise_test_true(note && part->length < 50000 && (more != NULL) == (parts < 2));
        strncat(whole, part->text, note ? (size_t)(note - part->text) : 0);
        offset = more ? atol(more + strlen("offset ")) : 0;
    }
    mortise_test_same(whole, text);
    mortise_test_contains(
        LOAD(test, .name = "long.json", .offset = 99998, .scope = "session")->text,
        "\xC3\xA9\n[bytes 99999 to 100001 of 100001]");
    mortise_test_error(LOAD(test, .name = "long.json", .offset = 100001, .scope = "session"),
                       MORTISE_INVALID_INPUT, "has 100001 bytes");
    SAVE(test, .name = "empty", .content = "", .mime_type = "text/plain", .scope = "session");
    mortise_test_text(LOAD(test, .name = "empty", .scope = "session"), "");
    mortise_test_close(test);
    free(text);
    free(whole);
}

static void attaches_what_is_no_text(void)
{
    mortise_test *test =
        mortise_test_open_with(&(mortise_test_setup){.services = MORTISE_TEST_ARTIFACTS});
    SAVE(test, .name = "x.svg", .content = "<svg/>", .mime_type = "image/svg+xml", .scope = "user");
    const mortise_test_result *result = LOAD(test, .name = "x.svg", .scope = "user");
    mortise_test_text(result, "'x.svg', version 1: image/svg+xml, 6 bytes, attached");
    mortise_test_true(result->attachment_count == 1 && result->attachments[0].length == 6);
    mortise_test_close(test);
}

static void tells_that_there_is_no_place(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_error(
        SAVE(test, .name = "x", .content = "", .mime_type = "text/plain", .scope = "user"),
        MORTISE_INTERNAL, "cannot be kept");
    mortise_test_error(LOAD(test, .name = "x", .scope = "user"), MORTISE_INTERNAL, "no files");
    mortise_test_close(test);
}

int main(void)
{
    keeps_versions();
    reads_long_texts_in_parts();
    attaches_what_is_no_text();
    tells_that_there_is_no_place();
    return mortise_test_status();
}
