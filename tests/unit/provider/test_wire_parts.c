/* Files and images of results in requests: sent where they are taken, else named in a line, and
 * the same in every later request (F70, F72, F75, D17). */
#include "wire_history.h"

#include <stdio.h>

#include "base/json.h"
#include "unit/base/failing.h"

/* A picture is its first bytes: nobody here looks at more. */
#define PNG       "\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1"
#define LARGE_PNG "\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\x0F\0\0\0\0\1" /* 3840 pixels wide */
#define HUGE_PNG  "\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\x20\0\0\0\0\1" /* 8192 */
#define PNG_64    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"
#define GIF       "GIF89a\1\0\1\0"
#define GIF_64    "R0lGODlhAQABAA=="
#define PDF       "%PDF-1.7"
#define PDF_64    "JVBERi0xLjc="

#define BYTES(text)                                                                                \
    {                                                                                              \
        (char *)(uintptr_t)(text), sizeof(text) - 1                                                \
    }
#define WORD(text) (char *)(uintptr_t)(text)

#define INLINE(type, title, bytes)                                                                 \
    {                                                                                              \
        .mime_type = WORD(type), .name = WORD(title), .data = BYTES(bytes)                         \
    }
#define PLACE(type, title, place)                                                                  \
    {                                                                                              \
        .mime_type = WORD(type), .name = WORD(title), .uri = WORD(place)                           \
    }

static void answer_with(struct history *history, const char *id, const char *text, bool is_error,
                        const struct attachment *parts, size_t count)
{
    struct item *item = item_output(id, text, strlen(text), is_error);
    assert_non_null(item);
    for (size_t i = 0; i < count; i++)
        assert_true(item_attach(item, &parts[i]));
    add(history, item);
}
#define ANSWER_WITH(history, id, text, is_error, parts)                                            \
    answer_with(history, id, text, is_error, parts, sizeof(parts) / sizeof((parts)[0]))

/* A session with one model. */
struct session {
    const struct wire *wire;
    const char *provider;
    struct part_rules rules;
    struct history history;
    struct request_prefix prefix;
    struct request_start start;
    bool is_locked, is_resumed;
    size_t locked;
};

static void open_session(struct session *session, const char *provider, enum images_choice images)
{
    const struct profile *profile = profile_of(provider);
    *session = (struct session){.wire = profile->wire,
                                .provider = profile->name,
                                .rules = profile_part_rules(profile, "m1", images)};
    history_init(&session->history);
    say(&session->history, ROLE_USER, "Hi");
}

static void close_session(struct session *session)
{
    history_release(&session->history);
    prefix_release(&session->prefix);
    request_start_reset(&session->start);
}

static bool write_body(struct session *session, struct text *body, struct error *error)
{
    struct request request = {.items = session->history.items,
                              .item_count = session->history.count,
                              .prefix = session->is_locked ? &session->prefix : NULL,
                              .locked_items = session->locked,
                              .start = session->is_resumed ? &session->start : NULL,
                              .parts = &session->rules};
    return session->wire->write(body, profile_of(session->provider), "m1", &request, error);
}

/* The request, which is JSON. */
static struct text body_of(struct session *session)
{
    struct text body = TEXT_INIT;
    struct error error = ERROR_INIT;
    bool written = write_body(session, &body, &error);
    assert_string_equal(error.message, "");
    assert_true(written);
    json_t *document = json_parse(body.data, body.length, NULL, &error);
    assert_string_equal(error.message, "");
    json_decref(document);
    return body;
}

static void body_has(struct session *session, const char *expected)
{
    struct text body = body_of(session);
    if (!strstr(body.data, expected))
        fail_msg("%s\nis not in\n%s", expected, body.data);
    text_release(&body);
}

/* ---- Anthropic ---- */

static const struct attachment every_kind[] = {
    INLINE("image/png", "dot.png", PNG),
    INLINE("image/jpeg", NULL, GIF), /* what it is counts, not what it is called */
    INLINE("application/pdf", "a.pdf", PDF),
    INLINE("text/plain; charset=utf-8", "a.txt", "a\"b"),
    INLINE("video/mp4", "clip.mp4", "xxxx"),
    INLINE("image/png", "broken.png", "no png"),
    INLINE("image/png", "huge.png", HUGE_PNG),
    INLINE("application/pdf", NULL, "no pdf"),
    INLINE("text/css", NULL, "\xFF"),
    INLINE("text/css", NULL, " \n"),
    PLACE("image/webp", NULL, "https://example.org/a.webp"),
    PLACE("application/pdf", "b.pdf", "http://example.org/b.pdf"),
    PLACE("application/pdf", "c.pdf", "gs://bucket/c.pdf"),
    PLACE("text/plain", NULL, "https://example.org/a.txt"),
};

#define UNSENT_OF_EVERY_KIND                                                                       \
    "video/mp4, 4 bytes, 'clip.mp4'; "                                                             \
    "image/png, 6 bytes, 'broken.png' (it is no JPEG, PNG, GIF or WebP); "                         \
    "image/png, 24 bytes, 'huge.png' (it has more pixels than the model takes); "                  \
    "application/pdf, 6 bytes (it is no PDF); text/css, 1 byte (it is not UTF-8); "                \
    "text/css, 2 bytes (it is empty); application/pdf, 'c.pdf', gs://bucket/c.pdf; "               \
    "text/plain, https://example.org/a.txt"

static void test_anthropic(void **state)
{
    (void)state;
    struct session session;
    open_session(&session, "anthropic", IMAGES_ON);
    call(&session.history, "c1", "shoot", "{}", true);
    ANSWER_WITH(&session.history, "c1", "See there.", false, every_kind);
    body_has(&session,
             "{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":["
             "{\"type\":\"text\",\"text\":\"See there.\"},"
             "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\","
             "\"data\":\"" PNG_64 "\"}},"
             "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/gif\","
             "\"data\":\"" GIF_64 "\"}},"
             "{\"type\":\"document\",\"source\":{\"type\":\"base64\",\"media_type\":"
             "\"application/pdf\",\"data\":\"" PDF_64 "\"},\"title\":\"a.pdf\"},"
             "{\"type\":\"document\",\"source\":{\"type\":\"text\",\"media_type\":\"text/plain\","
             "\"data\":\"a\\\"b\"},\"title\":\"a.txt\"},"
             "{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":"
             "\"https://example.org/a.webp\"}},"
             "{\"type\":\"document\",\"source\":{\"type\":\"url\",\"url\":"
             "\"http://example.org/b.pdf\"},\"title\":\"b.pdf\"},"
             "{\"type\":\"text\",\"text\":\"[8 parts not sent: " UNSENT_OF_EVERY_KIND "]\"}]}]}");
    close_session(&session);
}

/* Beside "is_error" the server takes text only. */
static void test_anthropic_errors(void **state)
{
    (void)state;
    static const struct attachment parts[] = {INLINE("image/png", "dot.png", PNG),
                                              INLINE("text/plain", NULL, "log")};
    struct session session;
    open_session(&session, "anthropic", IMAGES_ON);
    call(&session.history, "c1", "shoot", "{}", true);
    ANSWER_WITH(&session.history, "c1", "", true, parts);
    body_has(&session, "\"content\":[{\"type\":\"text\",\"text\":\"[part text/plain]\\nlog\"},"
                       "{\"type\":\"text\",\"text\":\"[1 part not sent: image/png, 24 bytes, "
                       "'dot.png' (with an error only text is taken)]\"}],\"is_error\":true}");
    close_session(&session);
}

static void test_a_model_that_takes_none(void **state)
{
    (void)state;
    static const struct attachment parts[] = {INLINE("image/png", "dot.png", PNG),
                                              INLINE("text/plain", "a.txt", "abc")};
    struct session session;
    open_session(&session, "anthropic", IMAGES_OFF);
    call(&session.history, "c1", "shoot", "{}", true);
    ANSWER_WITH(&session.history, "c1", "", false, parts);
    body_has(&session,
             "\"content\":[{\"type\":\"text\",\"text\":\"[part 'a.txt', text/plain]\\nabc\"},"
             "{\"type\":\"text\",\"text\":\"[1 part not sent: image/png, 24 bytes, "
             "'dot.png']\"}]}");
    close_session(&session);

    open_session(&session, "openai", IMAGES_OFF);
    call(&session.history, "c1", "shoot", "{}", true);
    ANSWER_WITH(&session.history, "c1", "", false, parts);
    body_has(&session, "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":"
                       "\"[part 'a.txt', text/plain]\\nabc\\n"
                       "[1 part not sent: image/png, 24 bytes, 'dot.png']\"}]");
    close_session(&session);
}

/* ---- Chat Completions ---- */

/* The results stand together, and what they name follows in one message. */
static void test_openai_chat(void **state)
{
    (void)state;
    static const struct attachment one[] = {INLINE("image/png", "dot.png", PNG),
                                            PLACE("image/png", NULL, "https://example.org/a")};
    static const struct attachment other[] = {INLINE("application/pdf", "a.pdf", PDF),
                                              INLINE("audio/wav", NULL, "x")};
    struct session session;
    open_session(&session, "openai", IMAGES_ON);
    call(&session.history, "c1", "shoot", "{}", true);
    call(&session.history, "c2", "shoot", "{}", true);
    call(&session.history, "c3", "add", "{}", true);
    ANSWER_WITH(&session.history, "c1", "Two.", false, one);
    ANSWER_WITH(&session.history, "c2", "", true, other);
    answer_call(&session.history, "c3", "3", false);
    say(&session.history, ROLE_USER, "Well?");
    body_has(&session,
             ",{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"Two.\\n"
             "[part 1, below: image/png, 24 bytes, 'dot.png']\\n"
             "[part 2, below: image/png, https://example.org/a]\"}"
             ",{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"Error: \\n"
             "[part 3, below: application/pdf, 8 bytes, 'a.pdf']\\n"
             "[1 part not sent: audio/wav, 1 byte]\"}"
             ",{\"role\":\"tool\",\"tool_call_id\":\"c3\",\"content\":\"3\"}"
             ",{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"[part 1]\"},"
             "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64," PNG_64
             "\"}},"
             "{\"type\":\"text\",\"text\":\"[part 2]\"},"
             "{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://example.org/a\"}},"
             "{\"type\":\"text\",\"text\":\"[part 3]\"},"
             "{\"type\":\"file\",\"file\":{\"filename\":\"a.pdf\",\"file_data\":"
             "\"data:application/pdf;base64," PDF_64 "\"}}]}"
             ",{\"role\":\"user\",\"content\":\"Well?\"}]");
    close_session(&session);
}

/* ---- Gemini ---- */

/* F70: inline before files; a GIF is not taken. */
static void test_gemini(void **state)
{
    (void)state;
    static const struct attachment parts[] = {
        PLACE("image/webp", NULL, "https://example.org/a.webp"),
        INLINE("image/png", "dot.png", PNG),
        INLINE("image/gif", NULL, GIF),
        INLINE("application/pdf", "a.pdf", PDF),
        INLINE("text/plain", "a.txt", "a\"b"),
        PLACE("application/pdf", "b.pdf", "http://example.org/b.pdf"),
    };
    struct session session;
    open_session(&session, "gemini", IMAGES_ON);
    call(&session.history, "c1", "shoot", "{}", true);
    ANSWER_WITH(&session.history, "c1", "{\"a\":1}", false, parts);
    body_has(&session,
             "{\"functionResponse\":{\"name\":\"shoot\",\"response\":{\"result\":{\"a\":1},"
             "\"attachments\":\"[part 'a.txt', text/plain]\\na\\\"b\\n"
             "[1 part not sent: image/gif, 10 bytes (the model takes no GIF)]\"},\"parts\":["
             "{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"" PNG_64 "\"}},"
             "{\"inlineData\":{\"mimeType\":\"application/pdf\",\"data\":\"" PDF_64 "\"}},"
             "{\"fileData\":{\"mimeType\":\"image/webp\",\"fileUri\":"
             "\"https://example.org/a.webp\"}},"
             "{\"fileData\":{\"mimeType\":\"application/pdf\",\"fileUri\":"
             "\"http://example.org/b.pdf\"}}]}}]}]");
    close_session(&session);

    open_session(&session, "gemini", IMAGES_AUTO);
    call(&session.history, "c1", "shoot", "{}", true);
    ANSWER_WITH(&session.history, "c1", "no", true, parts);
    body_has(&session, "\"response\":{\"error\":\"no\",\"attachments\":\"[part 'a.txt', "
                       "text/plain]\\na\\\"b\\n[5 parts not sent: image/webp, ");
    close_session(&session);
}

/* ---- Responses ---- */

static void test_openai_responses(void **state)
{
    (void)state;
    static const struct attachment text[] = {INLINE("text/plain", "a.txt", "abc"),
                                             INLINE("audio/wav", NULL, "x")};
    static const struct attachment links[] = {
        PLACE("image/png", NULL, "https://example.org/a"),
        PLACE("application/pdf", "b.pdf", "https://example.org/b")};
    struct session session;
    open_session(&session, "openai-responses", IMAGES_ON);
    call(&session.history, "c1", "shoot", "{}", true);
    call(&session.history, "c2", "shoot", "{}", true);
    call(&session.history, "c3", "shoot", "{}", true);
    ANSWER_WITH(&session.history, "c1", "", true, every_kind);
    ANSWER_WITH(&session.history, "c2", "", false, links);
    ANSWER_WITH(&session.history, "c3", "See.", false, text);
    body_has(&session, ",{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":["
                       "{\"type\":\"input_text\",\"text\":\"Error: \\n[part 'a.txt', ");
    body_has(&session,
             ",{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64," PNG_64 "\"},"
             "{\"type\":\"input_image\",\"image_url\":\"data:image/gif;base64," GIF_64 "\"},"
             "{\"type\":\"input_file\",\"filename\":\"a.pdf\",\"file_data\":"
             "\"data:application/pdf;base64," PDF_64 "\"}");
    body_has(&session, ",{\"type\":\"function_call_output\",\"call_id\":\"c2\",\"output\":["
                       "{\"type\":\"input_image\",\"image_url\":\"https://example.org/a\"},"
                       "{\"type\":\"input_file\",\"file_url\":\"https://example.org/b\"}]}");
    body_has(&session, ",{\"type\":\"function_call_output\",\"call_id\":\"c3\",\"output\":"
                       "\"See.\\n[part 'a.txt', text/plain]\\nabc\\n"
                       "[1 part not sent: audio/wav, 1 byte]\"}]");
    close_session(&session);
}

/* ---- how much ---- */

/* Calls and results with one part each; from the first on. */
static void shoot(struct session *session, size_t from, size_t to, const struct attachment *part)
{
    for (size_t i = from; i < to; i++) {
        char id[24];
        snprintf(id, sizeof(id), "c%zu", i);
        call(&session->history, id, "shoot", "{}", true);
        answer_with(&session->history, id, "", false, part, 1);
    }
}

static size_t count_in(const struct text *body, const char *what)
{
    size_t count = 0;
    for (const char *at = body->data; (at = strstr(at, what)); at += strlen(what))
        count++;
    return count;
}

static void sends(struct session *session, size_t images, const char *why)
{
    struct text body = body_of(session);
    assert_int_equal(count_in(&body, "\"type\":\"image\""), images);
    assert_int_equal(strstr(body.data, why) != NULL, true);
    text_release(&body);
}

/* The server's limits: 100 images, none above 2000 pixels where there are more than 20. */
static void test_many_images(void **state)
{
    (void)state;
    static const struct attachment small = INLINE("image/png", NULL, PNG);
    static const struct attachment large = INLINE("image/png", NULL, LARGE_PNG);
    struct session session;
    open_session(&session, "anthropic", IMAGES_ON);
    shoot(&session, 0, 20, &small);
    shoot(&session, 20, 21, &large);
    sends(&session, 20, "more pixels than the model takes");
    shoot(&session, 21, 101, &small);
    sends(&session, 100, "pixels");
    shoot(&session, 101, 102, &small);
    sends(&session, 100, "as many images as the model takes");
    close_session(&session);

    open_session(&session, "anthropic", IMAGES_ON);
    shoot(&session, 0, 1, &large);
    shoot(&session, 1, 20, &small);
    sends(&session, 20, "");
    shoot(&session, 20, 21, &small);
    sends(&session, 20, "as many images as the model takes");
    close_session(&session);
}

static void test_bytes_of_a_request(void **state)
{
    (void)state;
    static const struct attachment part = INLINE("image/png", NULL, PNG);
    struct session session;
    open_session(&session, "anthropic", IMAGES_ON);
    session.rules.total_bytes = 24 * 3 + 1;
    shoot(&session, 0, 5, &part);
    sends(&session, 3, "as many bytes of parts as a request takes");
    session.rules.image_bytes = 23;
    sends(&session, 0, "it is larger than the model takes");
    close_session(&session);
}

/* The worker tells the user what the writer tells the model. */
static void test_what_is_told(void **state)
{
    (void)state;
    static const struct attachment parts[] = {
        INLINE("image/png", NULL, PNG), INLINE("image/png", NULL, PNG), INLINE("a/b", "n", "")};
    struct session session;
    struct text told = TEXT_INIT;
    open_session(&session, "anthropic", IMAGES_ON);
    session.rules.images = 2;
    struct client client = {.parts = session.rules};
    shoot(&session, 0, 1, parts);
    client_unsent(&client, session.history.items, 2, &told);
    assert_string_equal(text_cstr(&told), "");
    call(&session.history, "d", "shoot", "{}", true);
    ANSWER_WITH(&session.history, "d", "", false, parts);
    client_unsent(&client, session.history.items, 4, &told);
    assert_string_equal(
        text_cstr(&told),
        "2 parts not sent: image/png, 24 bytes (the conversation has as many images "
        "as the model takes); a/b, 0 bytes, 'n'");
    text_puts(&told, "]");
    body_has(&session, told.data);
    text_release(&told);
    close_session(&session);
}

/* ---- one request begins like the one before (D17) ---- */

static void begins_like(const struct text *body, const struct text *before)
{
    const char *end = strstr(before->data, "],\"stream\"");
    assert_non_null(end);
    size_t length = (size_t)(end - before->data);
    if (before->data[length - 1] == '}' && before->data[length - 2] == ']')
        length -= 2; /* the last message may go on */
    assert_true(body->length > length);
    assert_memory_equal(body->data, before->data, length);
}

static void check_prefix(const char *provider, bool is_locked, bool is_resumed)
{
    static const struct attachment parts[] = {INLINE("image/png", "dot.png", PNG),
                                              INLINE("video/mp4", NULL, "x"),
                                              INLINE("text/plain", NULL, "abc")};
    struct session session;
    open_session(&session, provider, IMAGES_ON);
    session.rules.images = 3;
    session.is_locked = is_locked;
    session.is_resumed = is_resumed;
    call(&session.history, "a", "shoot", "{}", true);
    call(&session.history, "b", "shoot", "{}", true);
    ANSWER_WITH(&session.history, "a", "A", false, parts);
    ANSWER_WITH(&session.history, "b", "B", false, parts);
    session.locked = session.history.count;
    struct text before = body_of(&session);
    for (size_t i = 0; i < 4; i++) {
        shoot(&session, i, i + 1, parts);
        struct text body = body_of(&session);
        if (!is_locked) /* there the mark moves, and prefix_take() compares */
            begins_like(&body, &before);
        text_release(&before);
        before = body;
    }
    assert_int_equal(count_in(&before, PNG_64), 3);
    /* Written in one go, as after a resume in another process, it is the same. */
    struct session fresh = session;
    fresh.start = (struct request_start){0};
    fresh.prefix = (struct request_prefix){0};
    struct text again = body_of(&fresh);
    assert_string_equal(again.data, before.data);
    text_release(&again);
    text_release(&before);
    prefix_release(&fresh.prefix);
    request_start_reset(&fresh.start);
    close_session(&session);
}

static void test_prefix(void **state)
{
    (void)state;
    static const char *const providers[] = {"anthropic", "openai", "openai-responses"};
    for (size_t i = 0; i < sizeof(providers) / sizeof(*providers); i++)
        for (int how = 0; how < 4; how++)
            check_prefix(providers[i], how & 1, how & 2);
}

/* Whichever allocation fails: an error, and nothing leaks. */
static void test_writing_without_memory(void **state)
{
    (void)state;
    static const char *const providers[] = {"anthropic", "openai", "openai-responses"};
    for (size_t i = 0; i < sizeof(providers) / sizeof(*providers); i++) {
        bool failed = true;
        for (int allowed = 0; failed && allowed < 2000; allowed++) {
            struct session session;
            struct text body = TEXT_INIT;
            struct error error = ERROR_INIT;
            open_session(&session, providers[i], IMAGES_ON);
            call(&session.history, "c1", "shoot", "{}", true);
            ANSWER_WITH(&session.history, "c1", "See.", false, every_kind);
            fail_after(allowed);
            bool written = write_body(&session, &body, &error);
            failed = fail_never();
            assert_true(written || failed);
            assert_int_equal(error.kind, written ? ERROR_NONE : ERROR_INTERNAL);
            text_release(&body);
            close_session(&session);
        }
        assert_false(failed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_anthropic),
        cmocka_unit_test(test_anthropic_errors),
        cmocka_unit_test(test_a_model_that_takes_none),
        cmocka_unit_test(test_openai_chat),
        cmocka_unit_test(test_gemini),
        cmocka_unit_test(test_openai_responses),
        cmocka_unit_test(test_many_images),
        cmocka_unit_test(test_bytes_of_a_request),
        cmocka_unit_test(test_what_is_told),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_writing_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
