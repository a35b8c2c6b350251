#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "failing.h"
#include "frontend/print.h"

#include "capture.h"

/* A printer whose two streams are read by the test; both may be one terminal. */
struct stage {
    struct timeline timeline;
    struct print print;
    struct output answer, notes;
    struct capture answers, noted;
    bool shared;
};

static struct stage stage;

static void open_stage(enum print_detail detail)
{
    timeline_init(&stage.timeline);
    capture_pipe(&stage.answers);
    capture_pipe(&stage.noted);
    output_init(&stage.answer, stage.answers.writer, COLOR_NEVER);
    output_init(&stage.notes, stage.noted.writer, COLOR_NEVER);
    stage.shared = false;
    assert_true(print_register(&stage.print, &stage.answer, &stage.notes, detail, &stage.timeline));
}

/* As when a user runs it: both streams are the one terminal. */
static void open_terminal(enum print_detail detail, enum color_choice choice)
{
    timeline_init(&stage.timeline);
    capture_terminal(&stage.answers);
    output_init(&stage.answer, stage.answers.writer, choice);
    output_init(&stage.notes, stage.answers.writer, choice);
    stage.shared = true;
    assert_true(print_register(&stage.print, &stage.answer, &stage.notes, detail, &stage.timeline));
}

static void close_stage(void)
{
    print_release(&stage.print);
    output_release(&stage.answer);
    output_release(&stage.notes);
    timeline_release(&stage.timeline);
    capture_close(&stage.answers);
    if (!stage.shared)
        capture_close(&stage.noted);
}

static const char *answered(void)
{
    return capture_read(&stage.answers);
}

static const char *noted(void)
{
    return capture_read(&stage.noted);
}

#define EMIT(...) timeline_emit(&stage.timeline, &(struct event){__VA_ARGS__})

static struct slice slice_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

static void delta(enum block_kind kind, const char *text)
{
    EMIT(.kind = EVENT_BLOCK_DELTA, .as.block = {.kind = kind, .text = slice_of(text)});
}

static void stop(enum block_kind kind)
{
    EMIT(.kind = EVENT_BLOCK_STOP, .as.block = {.kind = kind});
}

static void settle(void)
{
    EMIT(.kind = EVENT_SETTLED);
}

static void call(const char *name, const char *arguments)
{
    EMIT(.kind = EVENT_TOOL_CALL,
         .as.tool_call = {
             .id = "c1", .name = name, .arguments = slice_of(arguments), .valid = true});
}

static void result(const char *name, bool success, const char *text, int64_t duration_us)
{
    EMIT(.kind = EVENT_TOOL_RESULT, .as.tool_result = {.id = "c1",
                                                       .name = name,
                                                       .success = success,
                                                       .result = slice_of(text),
                                                       .category = success ? NULL : "internal",
                                                       .code = success ? NULL : "tool.error",
                                                       .duration_us = duration_us});
}

/* ---- the answer ---- */

static void test_answer_comes_as_it_is_streamed(void **state)
{
    (void)state;
    open_stage(PRINT_NORMAL);
    delta(BLOCK_TEXT, "Hel");
    settle();
    assert_string_equal(answered(), "Hel");
    delta(BLOCK_TEXT, "lo");
    stop(BLOCK_TEXT);
    assert_string_equal(answered(), "lo");
    EMIT(.kind = EVENT_TURN_END, .as.turn_end = {.reason = STOP_END});
    assert_string_equal(answered(), "\n");
    assert_string_equal(noted(), "");
    close_stage();
}

static void test_line_is_ended_once(void **state)
{
    (void)state;
    open_stage(PRINT_NORMAL);
    delta(BLOCK_TEXT, "Hello\n");
    EMIT(.kind = EVENT_TURN_END, .as.turn_end = {.reason = STOP_END});
    assert_string_equal(answered(), "Hello\n");
    close_stage();
}

static void test_refusal_is_the_answer(void **state)
{
    (void)state;
    open_stage(PRINT_QUIET);
    delta(BLOCK_REFUSAL, "No.");
    stop(BLOCK_REFUSAL);
    assert_string_equal(answered(), "No.");
    assert_string_equal(noted(), "");
    close_stage();
}

static void test_call_arguments_are_no_answer(void **state)
{
    (void)state;
    open_stage(PRINT_ALL);
    delta(BLOCK_TOOL_USE, "{\"a\":");
    stop(BLOCK_TOOL_USE);
    assert_string_equal(answered(), "");
    assert_string_equal(noted(), "");
    close_stage();
}

/* ---- what each detail shows ---- */

static void show_everything(void)
{
    const struct error error = {.message = "busy"};
    const struct usage usage = {10, 5, 3, -1, -1};
    delta(BLOCK_REASONING, "Hm.");
    stop(BLOCK_REASONING);
    delta(BLOCK_TEXT, "Text.");
    stop(BLOCK_TEXT);
    call("greet", "{}");
    EMIT(.kind = EVENT_TOOL_PROGRESS,
         .as.tool_progress = {
             .id = "c1", .name = "greet", .stream = "stdout", .text = slice_of("step\n")});
    EMIT(.kind = EVENT_TOOL_PROGRESS,
         .as.tool_progress = {
             .id = "c1", .name = "greet", .text = slice_of("half"), .done = 1, .total = 2});
    result("greet", true, "Hello", 1500);
    EMIT(.kind = EVENT_HOOK, .as.hook = {"guard", "PreToolCall", "skip", "because"});
    EMIT(.kind = EVENT_RETRY, .as.retry = {.attempt = 1, .wait_ms = 1500, .reason = &error});
    EMIT(.kind = EVENT_RESET, .as.reset.reason = "busy");
    EMIT(.kind = EVENT_STATUS, .as.status.text = slice_of("cut"));
    EMIT(.kind = EVENT_USAGE, .as.usage = usage);
    EMIT(.kind = EVENT_TURN_END);
}

#define RESET_LINE "what was shown of the answer is void: busy\n"
#define TOOL_LINES "→ greet {}\n  greet: step\n  greet:  50% half\n← greet (1.5 ms) Hello\n"
#define HOOK_LINE  "guard at PreToolCall: skip: because\n"
#define RETRY_LINE "attempt 1 failed: busy; again in 1.5 s\n"

static void test_details(void **state)
{
    (void)state;
    static const char *const wanted[] = {
        [PRINT_QUIET] = RESET_LINE,
        [PRINT_NORMAL] = TOOL_LINES RETRY_LINE RESET_LINE "cut\n",
        [PRINT_MORE] = "Hm.\n" TOOL_LINES HOOK_LINE RETRY_LINE RESET_LINE
                       "cut\ntokens: 10 in, 5 out, 3 from the cache\n",
        [PRINT_ALL] = "Hm.\n" TOOL_LINES HOOK_LINE RETRY_LINE RESET_LINE
                      "cut\ntokens: 10 in, 5 out, 3 from the cache\n",
    };
    for (enum print_detail detail = PRINT_QUIET; detail <= PRINT_ALL; detail++) {
        open_stage(detail);
        show_everything();
        assert_string_equal(noted(), wanted[detail]);
        assert_string_equal(answered(), "Text.\n");
        close_stage();
    }
}

static void test_results(void **state)
{
    (void)state;
    static const struct {
        int64_t us;
        const char *shown;
    } cases[] = {
        {0, "0 µs"}, {999, "999 µs"}, {1000, "1.0 ms"}, {1000000, "1.0 s"}, {61500000, "61.5 s"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char wanted[80];
        open_stage(PRINT_NORMAL);
        result("t", false, "no", cases[i].us);
        snprintf(wanted, sizeof(wanted), "✗ t (%s) no\n", cases[i].shown);
        assert_string_equal(noted(), wanted);
        close_stage();
    }
}

/* F75: a line for each part, whatever its name is. */
static void test_parts(void **state)
{
    (void)state;
    static const struct event_part parts[] = {
        {"image/png", "a\nb \033[2J.png", NULL, 12345},
        {"text/plain", NULL, NULL, 1},
        {"video/mp4", "clip.mp4", "https://example.org/clip", 0}};
    open_stage(PRINT_NORMAL);
    EMIT(.kind = EVENT_TOOL_RESULT,
         .as.tool_result = {
             .id = "c", .name = "t", .success = true, .parts = parts, .part_count = 3});
    assert_string_equal(noted(), "← t (0 µs) \n"
                                 "  + image/png, 12.3 kB, 'a b \033[2J.png'\n"
                                 "  + text/plain, 1 byte\n"
                                 "  + video/mp4, 'clip.mp4', https://example.org/clip\n");
    close_stage();
}

/* -1 is "the provider did not say" and no number to show. */
static void test_unknown_usage(void **state)
{
    (void)state;
    static const struct usage cases[] = {
        USAGE_INIT, {10, -1, -1, -1, -1}, {-1, 5, -1, -1, -1}, {10, 5, -1, -1, -1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        open_stage(PRINT_MORE);
        EMIT(.kind = EVENT_USAGE, .as.usage = cases[i]);
        assert_null(strstr(noted(), "-1"));
        close_stage();
    }
}

/* ---- shortened ---- */

static char *repeat(const char *piece, size_t bytes)
{
    char *text = calloc(1, bytes + strlen(piece) + 1);
    assert_non_null(text);
    for (size_t length = 0; length < bytes; length += strlen(piece))
        memcpy(text + length, piece, strlen(piece));
    return text;
}

/* 100 bytes are shown, or fewer where that would split a character. */
static void test_long_arguments_are_cut_between_characters(void **state)
{
    (void)state;
    static const char *const pieces[] = {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++)
        for (size_t lead = 0; lead < 4; lead++) {
            size_t piece = strlen(pieces[i]);
            size_t shown = lead + (100 - lead) / piece * piece;
            char *tail = repeat(pieces[i], 400);
            struct text text = TEXT_INIT, wanted = TEXT_INIT;
            text_append(&text, "xyz", lead);
            text_puts(&text, tail);
            text_printf(&wanted, "→ t %.*s…\n", (int)shown, text.data);
            open_stage(PRINT_NORMAL);
            call("t", text.data);
            assert_string_equal(noted(), wanted.data);
            close_stage();
            text_release(&text);
            text_release(&wanted);
            free(tail);
        }
}

static void test_what_fits_is_whole(void **state)
{
    (void)state;
    char *text = repeat("a", 100);
    open_stage(PRINT_NORMAL);
    call("t", text);
    assert_null(strstr(noted(), "…"));
    close_stage();
    free(text);
}

static void test_one_line_unless_everything_is_wanted(void **state)
{
    (void)state;
    open_stage(PRINT_NORMAL);
    result("t", true, "a\nb\n\nc\n", 0);
    assert_string_equal(noted(), "← t (0 µs) a b  c \n");
    close_stage();

    char *text = repeat("line\n", 500);
    open_stage(PRINT_ALL);
    result("t", true, text, 0);
    const char *shown = noted();
    assert_non_null(strstr(shown, text));
    assert_null(strstr(shown, "…"));
    close_stage();
    free(text);
}

/* ---- terminals ---- */

static void test_order_of_the_two_streams(void **state)
{
    (void)state;
    open_terminal(PRINT_MORE, COLOR_NEVER);
    delta(BLOCK_REASONING, "Think");
    delta(BLOCK_REASONING, "ing");
    stop(BLOCK_REASONING);
    delta(BLOCK_TEXT, "I look.");
    call("look", "{}");
    result("look", true, "seen", 10);
    delta(BLOCK_TEXT, "It is there.");
    EMIT(.kind = EVENT_TURN_END);
    assert_string_equal(answered(), "Thinking\nI look.\n→ look {}\n← look (10 µs) seen\n"
                                    "It is there.\n");
    close_stage();
}

/* A server may open the text while the reasoning's block is still open. */
static void test_reasoning_stays_before_the_text(void **state)
{
    (void)state;
    open_terminal(PRINT_MORE, COLOR_NEVER);
    delta(BLOCK_REASONING, "Thinking");
    delta(BLOCK_TEXT, "Answer");
    settle();
    stop(BLOCK_REASONING);
    stop(BLOCK_TEXT);
    EMIT(.kind = EVENT_TURN_END);
    assert_string_equal(answered(), "Thinking\nAnswer\n");
    close_stage();
}

static void test_notes_are_dim(void **state)
{
    (void)state;
    open_terminal(PRINT_MORE, COLOR_ALWAYS);
    delta(BLOCK_TEXT, "Text");
    call("t", "{}");
    delta(BLOCK_REASONING, "Hm");
    stop(BLOCK_REASONING);
    assert_string_equal(answered(), "Text\n\033[2m→ t {}\033[0m\n\033[2mHm\033[0m\n");
    close_stage();
}

/* D23: wherever foreign text is shown. */
static void test_foreign_text_is_harmless(void **state)
{
    (void)state;
    static const char evil[] = "a\033]0;x\007\033[2Jb\r\xC2\x9B"
                               "1A";
    struct error error = {.kind = ERROR_SERVER};
    memcpy(error.message, evil, sizeof(evil));
    open_terminal(PRINT_ALL, COLOR_NEVER);
    delta(BLOCK_REASONING, evil);
    delta(BLOCK_TEXT, evil);
    call(evil, evil);
    EMIT(.kind = EVENT_TOOL_PROGRESS,
         .as.tool_progress = {.id = evil, .name = evil, .stream = evil, .text = slice_of(evil)});
    result(evil, false, evil, 1);
    EMIT(.kind = EVENT_HOOK, .as.hook = {evil, "PreToolCall", "skip", evil});
    EMIT(.kind = EVENT_RETRY, .as.retry = {.attempt = 1, .reason = &error});
    EMIT(.kind = EVENT_RESET, .as.reset.reason = evil);
    EMIT(.kind = EVENT_STATUS, .as.status.text = slice_of(evil));
    EMIT(.kind = EVENT_TURN_END);
    const char *shown = answered();
    assert_non_null(strstr(shown, "a]0;x[2Jb1A"));
    for (const char *c = shown; *c; c++)
        assert_true((unsigned char)*c >= 0x20 || *c == '\n');
    assert_null(strstr(shown, "\xC2\x9B"));
    close_stage();
}

/* ---- secrets ---- */

/* D24: events that are shown to people pass secret_redact(). */
static void test_notes_are_redacted(void **state)
{
    (void)state;
    static const char key[] = "sk-0123456789abcdef";
    struct error error = {.kind = ERROR_SERVER};
    snprintf(error.message, sizeof(error.message), "bad key %s", key);
    assert_true(secret_add(key, strlen(key)));
    open_stage(PRINT_ALL);
    call("t", "{\"key\":\"sk-0123456789abcdef\"}");
    EMIT(.kind = EVENT_TOOL_PROGRESS,
         .as.tool_progress = {.id = "c", .name = "t", .stream = "x", .text = slice_of(key)});
    EMIT(.kind = EVENT_TOOL_PROGRESS,
         .as.tool_progress = {.id = "d", .name = "t", .text = slice_of(key)});
    result("t", true, "the key is sk-0123456789abcdef", 1);
    EMIT(.kind = EVENT_RETRY, .as.retry = {.attempt = 1, .reason = &error});
    EMIT(.kind = EVENT_HOOK, .as.hook = {"h", "PreToolCall", "skip", key});
    EMIT(.kind = EVENT_STATUS, .as.status.text = slice_of(key));
    const char *shown = noted();
    secret_clear();
    assert_non_null(strstr(shown, "the key is [redacted]"));
    assert_null(strstr(shown, key));
    close_stage();
}

/* A key that begins within what is shown is not shown in part. */
static void test_shortening_does_not_show_half_a_secret(void **state)
{
    (void)state;
    static const char key[] = "sk-0123456789abcdef";
    char *lead = repeat("a", 90);
    struct text text = TEXT_INIT;
    text_printf(&text, "%s%s and more", lead, key);
    assert_true(secret_add(key, strlen(key)));
    open_stage(PRINT_NORMAL);
    result("t", true, text.data, 1);
    const char *shown = noted();
    secret_clear();
    assert_null(strstr(shown, "sk-0123"));
    close_stage();
    text_release(&text);
    free(lead);
}

/* ---- memory ---- */

static void test_no_memory(void **state)
{
    (void)state;
    bool failed = true;
    for (int allowed = 0; failed; allowed++) {
        open_stage(PRINT_ALL);
        fail_after(allowed);
        show_everything();
        failed = fail_never();
        answered();
        noted();
        if (failed)
            assert_true(stage.answer.failed || stage.notes.failed);
        close_stage();
    }
    struct timeline timeline;
    timeline_init(&timeline);
    fail_after(0);
    bool registered =
        print_register(&stage.print, &stage.answer, &stage.notes, PRINT_ALL, &timeline);
    fail_never();
    assert_false(registered);
    timeline_release(&timeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answer_comes_as_it_is_streamed),
        cmocka_unit_test(test_line_is_ended_once),
        cmocka_unit_test(test_refusal_is_the_answer),
        cmocka_unit_test(test_call_arguments_are_no_answer),
        cmocka_unit_test(test_details),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_unknown_usage),
        cmocka_unit_test(test_long_arguments_are_cut_between_characters),
        cmocka_unit_test(test_what_fits_is_whole),
        cmocka_unit_test(test_one_line_unless_everything_is_wanted),
        cmocka_unit_test(test_order_of_the_two_streams),
        cmocka_unit_test(test_reasoning_stays_before_the_text),
        cmocka_unit_test(test_notes_are_dim),
        cmocka_unit_test(test_foreign_text_is_harmless),
        cmocka_unit_test(test_notes_are_redacted),
        cmocka_unit_test(test_shortening_does_not_show_half_a_secret),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
