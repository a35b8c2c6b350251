#include "writer_test.h"

#include <stdio.h>

#include "base/json.h"
#include "unit/base/failing.h"

#define MODEL "m1"

/* ---- requests ---- */

static struct request request_of(const struct history *history, struct toolset *tools,
                                 const struct request_config *config)
{
    return (struct request){.system = "Be brief.",
                            .items = history->items,
                            .item_count = history->count,
                            .tools = tools,
                            .config = config};
}

char *write_as(const struct profile *profile, const char *model, const struct history *history,
               struct toolset *tools, const struct request_config *config)
{
    struct request request = request_of(history, tools, config);
    struct error error = ERROR_INIT;
    struct text body = TEXT_INIT;
    bool written = profile->wire->write(&body, profile, model, &request, &error);
    assert_string_equal(error.message, "");
    assert_true(written);
    json_t *document = json_parse(body.data, body.length, NULL, &error);
    assert_string_equal(error.message, "");
    json_decref(document);
    return text_take(&body, NULL);
}

char *write_with(const struct writer *writer, const char *model, const struct history *history,
                 struct toolset *tools, const struct request_config *config)
{
    return write_as(profile_of(writer->provider), model, history, tools, config);
}

void messages_are(const struct writer *writer, const struct profile *profile, const char *model,
                  const struct history *history, const char *expected)
{
    char *body = write_as(profile, model, history, NULL, NULL);
    char *messages = strstr(body, writer->open);
    assert_non_null(messages);
    messages += strlen(writer->open);
    assert_true(strlen(messages) >= strlen(writer->close));
    char *close = messages + strlen(messages) - strlen(writer->close);
    assert_string_equal(close, writer->close);
    *close = '\0';
    assert_string_equal(messages, expected);
    free(body);
}

static void ordinary_messages_are(const struct writer *writer, const struct history *history,
                                  const char *expected)
{
    messages_are(writer, profile_of(writer->provider), MODEL, history, expected);
}

/* ---- conversations ---- */

static void fill_conversation(struct history *history, const char *arguments)
{
    say(history, ROLE_USER, "Hi \"you\"\n\xE6\x97\xA5");
    add(history, item_reasoning("hm", 2));
    say(history, ROLE_ASSISTANT, "On it.");
    call(history, "c1", "add", arguments, true);
    call(history, "c2", "add", "{\"n\": oops", false);
    answer_call(history, "c1", "three", false);
    answer_call(history, "c2", "no JSON", true);
}

static struct origin *origin_with(const char *verbatim, const char *provider, const char *model,
                                  size_t item_count)
{
    struct origin *origin = origin_new(provider, model);
    assert_non_null(origin);
    origin->item_count = item_count;
    origin->verbatim.data = strdup(verbatim);
    origin->verbatim.length = strlen(verbatim);
    return origin;
}

static void fill_verbatim(struct history *history, const char *verbatim, const char *provider,
                          const char *model, size_t item_count)
{
    struct origin *origin = origin_with(verbatim, provider, model, item_count);
    size_t first = history->count;
    add(history, item_reasoning("t", 1));
    call(history, "v1", "add", "{}", true);
    call(history, "call_made", "now", "{}", true);
    for (size_t i = first; i < history->count; i++)
        history->items[i]->origin = origin_ref(origin);
    origin_unref(origin);
    answer_call(history, "v1", "ok", false);
    answer_call(history, "call_made", "noon", false);
}

/* ---- the tests ---- */

void writer_makes_requests(void **state)
{
    static const char *const stop[] = {"END", NULL};
    const struct writer *writer = *state;
    struct request_config config = {100, 0.1, 0.5, 40, stop, writer->reasoning};
    struct toolset tools = two_tools();
    struct text expected = TEXT_INIT;
    struct history history;
    history_init(&history);
    fill_conversation(&history, "{\"n\": 2512292042121000001}");
    char *body = write_with(writer, MODEL, &history, &tools, &config);
    text_printf(&expected, "%s%s%s%s%s", writer->front, writer->tools, writer->open,
                writer->conversation, writer->tail);
    assert_string_equal(body, text_cstr(&expected));
    free(body);
    ordinary_messages_are(writer, &history, writer->conversation);
    text_release(&expected);
    history_release(&history);
    toolset_release(&tools);
}

void writer_leaves_out_what_is_unset(void **state)
{
    const struct writer *writer = *state;
    struct request_config config = REQUEST_CONFIG_INIT;
    struct text expected = TEXT_INIT;
    struct history history;
    history_init(&history);
    text_printf(&expected, "%s%s%s%s", writer->front, writer->open, writer->odd[0], writer->close);
    char *body = write_with(writer, MODEL, &history, NULL, &config);
    assert_string_equal(body, text_cstr(&expected));
    free(body);
    text_release(&expected);
    history_release(&history);
}

/* D17: the next request begins with the bytes of this one, and old items are not written anew. */
void writer_keeps_the_prefix(void **state)
{
    const struct writer *writer = *state;
    struct toolset tools = two_tools();
    struct history history;
    history_init(&history);
    fill_conversation(&history, "{}");
    char *first = write_with(writer, MODEL, &history, &tools, NULL);
    const char *kept = history.items[0]->wire[writer->wire->format].data;
    assert_non_null(kept);
    say(&history, ROLE_ASSISTANT, "Done.");
    say(&history, ROLE_USER, "Thanks");
    char *second = write_with(writer, MODEL, &history, &tools, NULL);
    assert_ptr_equal(history.items[0]->wire[writer->wire->format].data, kept);
    const char *end = strstr(first, writer->close);
    assert_non_null(end);
    assert_memory_equal(first, second, (size_t)(end - first));
    free(first);
    free(second);
    history_release(&history);
    toolset_release(&tools);
}

/* D13: right behind their calls and in the order of those, before anything else that was said. */
void writer_orders_results(void **state)
{
    const struct writer *writer = *state;
    struct history history;
    history_init(&history);
    say(&history, ROLE_USER, "Hi");
    call(&history, "c1", "add", "{}", true);
    call(&history, "c2", "now", "", true);
    call(&history, "c3", "add", "{}", true);
    answer_call(&history, "c2", "error: two", true);
    say(&history, ROLE_USER, "and?");
    answer_call(&history, "c3", "", true);
    answer_call(&history, "c1", "", false);
    ordinary_messages_are(writer, &history, writer->results);
    history_release(&history);
}

/* Whatever the history looks like, the server gets what it accepts. */
void writer_bears_odd_conversations(void **state)
{
    const struct writer *writer = *state;
    struct history history;
    history_init(&history);
    ordinary_messages_are(writer, &history, writer->odd[0]);
    say(&history, ROLE_ASSISTANT, " \n");
    ordinary_messages_are(writer, &history, writer->odd[1]);
    say(&history, ROLE_ASSISTANT, "Hello");
    say(&history, ROLE_ASSISTANT, "again");
    add(&history, item_reasoning("hm", 2));
    say(&history, ROLE_USER, "");
    say(&history, ROLE_ASSISTANT, "");
    say(&history, ROLE_SYSTEM, "Note.");
    ordinary_messages_are(writer, &history, writer->odd[2]);
    history_release(&history);
}

void writer_sends_settings(void **state)
{
    const struct writer *writer = *state;
    struct history history;
    history_init(&history);
    assert_true(writer->settings.count > 0);
    for (size_t i = 0; i < writer->settings.count; i++) {
        const struct writer_setting *setting = &writer->settings.items[i];
        struct request_config config = REQUEST_CONFIG_INIT;
        config.reasoning = setting->reasoning;
        config.max_tokens = setting->max_tokens;
        config.temperature = setting->temperature;
        char *body = write_with(writer, setting->model, &history, NULL, &config);
        if (!strstr(body, setting->expected))
            fail_msg("%s\nis not in\n%s", setting->expected, body);
        free(body);
    }
    history_release(&history);
}

/* D15: to the letter for the same provider and model while the response is whole, neutral for
 * all else. */
void writer_sends_verbatim(void **state)
{
    const struct writer *writer = *state;
    assert_true(writer->verbatims.count > 0);
    for (size_t i = 0; i < writer->verbatims.count; i++) {
        const struct writer_verbatim *row = &writer->verbatims.items[i];
        struct history history;
        history_init(&history);
        say(&history, ROLE_USER, "Hi");
        fill_verbatim(&history, writer->verbatim, row->provider, row->model, row->item_count);
        messages_are(writer, profile_of(writer->provider), row->asked, &history, row->expected);
        history_release(&history);
    }
}

/* D15: a user's provider may speak another format today than when the response came. */
void writer_sends_no_other_format(void **state)
{
    static const struct {
        enum wire_format format;
        const char *verbatim;
    } responses[] = {
        {WIRE_ANTHROPIC, "[{\"type\":\"text\",\"text\":\"as it came\"}]"},
        {WIRE_OPENAI_RESPONSES,
         "[{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"as it came\"}]"},
        {WIRE_GEMINI, "[{\"text\":\"as it came\"}]"},
    };
    const struct writer *writer = *state;
    for (size_t i = 0; i < sizeof(responses) / sizeof(responses[0]); i++) {
        struct history history;
        history_init(&history);
        say(&history, ROLE_USER, "Hi");
        say(&history, ROLE_ASSISTANT, "Hello");
        history.items[1]->origin =
            origin_with(responses[i].verbatim, writer->provider, MODEL, 1);
        char *body = write_with(writer, MODEL, &history, NULL, NULL);
        bool is_verbatim = strstr(body, "as it came") != NULL;
        assert_int_equal(is_verbatim, responses[i].format == writer->wire->format);
        assert_int_equal(is_verbatim, !strstr(body, "Hello"));
        free(body);
        history_release(&history);
    }
}

void writer_refuses_what_is_unpaired(void **state)
{
    const struct writer *writer = *state;
    struct history history;
    struct error error = ERROR_INIT;
    struct text body = TEXT_INIT;
    history_init(&history);
    call(&history, "c1", "add", "{}", true);
    struct request request = request_of(&history, NULL, NULL);
    assert_false(writer->wire->write(&body, profile_of(writer->provider), MODEL, &request, &error));
    assert_int_equal(error.kind, ERROR_INTERNAL);
    assert_non_null(strstr(error.message, "c1"));
    text_release(&body);
    history_release(&history);
}

static bool write_failing(const struct writer *writer, int allowed)
{
    const char *model = writer->verbatim ? writer->verbatims.items[0].model : MODEL;
    struct request_config config = {100, 0.1, 0.5, 40, NULL, "low"};
    struct toolset tools = two_tools();
    struct history history;
    struct error error = ERROR_INIT;
    struct text body = TEXT_INIT;
    history_init(&history);
    /* jansson asserts when it has no memory for a number of more than 16 digits. */
    fill_conversation(&history, "{\"n\": 7}");
    if (writer->verbatim)
        fill_verbatim(&history, writer->verbatim, writer->provider, model, 3);
    call(&history, "c9", "3d", "{\"n\": 7}", true);
    answer_call(&history, "c9", "{\"a\":1}", false);
    struct request request = request_of(&history, &tools, &config);
    fail_after(allowed);
    bool written =
        writer->wire->write(&body, profile_of(writer->provider), model, &request, &error);
    bool failed = fail_never();
    assert_true(written || failed);
    assert_int_equal(error.kind, written ? ERROR_NONE : ERROR_INTERNAL);
    for (const char *const *mark = writer->marks; written && *mark; mark++)
        assert_non_null(strstr(body.data, *mark));
    text_release(&body);
    history_release(&history);
    toolset_release(&tools);
    return !failed;
}

void writer_bears_a_lack_of_memory(void **state)
{
    for (int allowed = 0; !write_failing(*state, allowed); allowed++)
        ;
}
