/* The ids of calls and the names of tools as providers take them (D14, D20; FAULTS 122, 123). */
#include "wire_history.h"

#include <stdio.h>

#include "base/json.h"
#include "provider/wire_write.h"
#include "unit/base/failing.h"

/* What another provider, a bridge or an import may have given. */
static const char *const strange[] = {
    "functions.x:0", "functions.x:1", "functions_x_0", "a b", "\xE6\x97\xA5", "",
    "toolu_0123456789-0123456789-0123456789-0123456789-0123456789-0123456789"};

#define STRANGE_COUNT (sizeof(strange) / sizeof(strange[0]))

static json_t *request_of(const struct profile *profile, const struct history *history)
{
    struct request request = {.items = history->items, .item_count = history->count};
    struct text body = TEXT_INIT;
    struct error error = ERROR_INIT;
    if (!profile->wire->write(&body, profile, "m1", &request, &error))
        fail_msg("%s", error.message);
    json_t *document = json_parse(body.data, body.length, NULL, &error);
    assert_non_null(document);
    text_release(&body);
    return document;
}

struct ids {
    char calls[32][80];
    char outputs[32][80];
    size_t call_count, output_count;
};

/* The ids of a Chat request, in its order. */
static struct ids ids_of(const struct profile *profile, const struct history *history)
{
    struct ids ids = {.call_count = 0};
    json_t *document = request_of(profile, history);
    size_t i, k;
    json_t *message, *call;
    json_array_foreach (json_object_get(document, "messages"), i, message) {
        json_array_foreach (json_object_get(message, "tool_calls"), k, call)
            snprintf(ids.calls[ids.call_count++], 80, "%s", json_member_string(call, "id"));
        if (json_member_string(message, "tool_call_id"))
            snprintf(ids.outputs[ids.output_count++], 80, "%s",
                     json_member_string(message, "tool_call_id"));
    }
    json_decref(document);
    return ids;
}

static bool is_valid(const char *id, bool strict)
{
    size_t length = strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    return !id[length] && length > 0 && length <= 64 &&
           (!strict || (length == 9 && !strpbrk(id, "_-")));
}

static void add_call(struct history *history, const char *id)
{
    call(history, id, "add", "{}", true);
    answer_call(history, id, "ok", false);
}

static void test_strange_ids(void **state)
{
    static const char *const providers[] = {"openai", "mistral"};
    (void)state;
    for (size_t p = 0; p < 2; p++) {
        const struct profile *profile = profile_of(providers[p]);
        struct history history;
        history_init(&history);
        for (size_t i = 0; i < STRANGE_COUNT; i++)
            add_call(&history, strange[i]);
        struct ids ids = ids_of(profile, &history);
        assert_int_equal(ids.call_count, STRANGE_COUNT);
        assert_int_equal(ids.output_count, STRANGE_COUNT);
        for (size_t i = 0; i < STRANGE_COUNT; i++) {
            assert_true(is_valid(ids.calls[i], profile->strict_ids));
            assert_string_equal(ids.calls[i], ids.outputs[i]);
            for (size_t k = 0; k < i; k++)
                assert_string_not_equal(ids.calls[i], ids.calls[k]);
        }
        history_release(&history);
    }
}

/* A call whose id is what another one's became gets another; and the same in every process, with
 * however many calls behind them, so that requests begin alike (D17). */
static void test_no_two_calls_get_the_same_id(void **state)
{
    static const char *const providers[] = {"openai", "mistral"};
    (void)state;
    for (size_t p = 0; p < 2; p++) {
        const struct profile *profile = profile_of(providers[p]);
        struct history history;
        history_init(&history);
        add_call(&history, "functions.x:0");
        struct ids first = ids_of(profile, &history);
        add_call(&history, first.calls[0]);
        struct ids second = ids_of(profile, &history);
        add_call(&history, second.calls[1]);
        struct ids third = ids_of(profile, &history);
        assert_string_equal(second.calls[0], first.calls[0]);
        assert_string_equal(third.calls[0], first.calls[0]);
        assert_string_equal(third.calls[1], second.calls[1]);
        assert_string_not_equal(third.calls[1], third.calls[0]);
        assert_string_not_equal(third.calls[2], third.calls[0]);
        assert_string_not_equal(third.calls[2], third.calls[1]);
        for (size_t i = 0; i < 3; i++) {
            assert_true(is_valid(third.calls[i], profile->strict_ids));
            assert_string_equal(third.calls[i], third.outputs[i]);
        }
        history_release(&history);
    }
    /* The cache of a provider has what an earlier process sent: it may not change. */
    struct history history;
    history_init(&history);
    add_call(&history, "functions.x:0");
    assert_string_equal(ids_of(profile_of("openai"), &history).calls[0], "mapped_0TsWaZyMLZj");
    assert_string_equal(ids_of(profile_of("mistral"), &history).calls[0], "0TsWaZyML");
    history_release(&history);
}

/* Good ids stay, and those that the provider gave itself. */
static void test_ids_that_stay(void **state)
{
    (void)state;
    const struct profile kimi = {.name = "kimi", .wire = &wire_openai_chat};
    struct history history;
    history_init(&history);
    add_call(&history, "call_1-A");
    add_call(&history, "functions.f:0");
    add_call(&history, "abcDEF123");
    history.items[2]->origin = origin_new("kimi", "m1");
    struct ids ids = ids_of(&kimi, &history);
    assert_string_equal(ids.calls[0], "call_1-A");
    assert_string_equal(ids.calls[1], "functions.f:0");
    assert_string_equal(ids.calls[2], "abcDEF123");
    ids = ids_of(profile_of("mistral"), &history);
    assert_true(is_valid(ids.calls[0], true));
    assert_string_equal(ids.calls[2], "abcDEF123");
    history_release(&history);
}

/* D15: a response goes back to the letter only as long as its ids can. */
static void test_a_response_whose_id_is_taken(void **state)
{
    (void)state;
    struct history history;
    history_init(&history);
    add_call(&history, "functions.x:0");
    struct ids ids = ids_of(profile_of("openai"), &history);
    say(&history, ROLE_USER, "More.");
    for (int taken = 0; taken < 2; taken++) {
        const char *id = taken ? ids.calls[0] : "toolu_1";
        add_call(&history, id);
        struct item *item = history.items[history.count - 2];
        struct text array = TEXT_INIT;
        item->origin = origin_new("anthropic", "m1");
        item->origin->item_count = 1;
        text_printf(&array,
                    "[{\"type\":\"tool_use\",\"id\":\"%s\",\"name\":\"add\",\"input\":{},\"x\":1}]",
                    id);
        item->origin->verbatim.data = text_take(&array, &item->origin->verbatim.length);
    }
    json_t *document = request_of(profile_of("anthropic"), &history);
    json_t *messages = json_object_get(document, "messages");
    json_t *kept = json_array_get(json_object_get(json_array_get(messages, 3), "content"), 0);
    json_t *changed = json_array_get(json_object_get(json_array_get(messages, 5), "content"), 0);
    json_t *result = json_array_get(json_object_get(json_array_get(messages, 6), "content"), 0);
    assert_string_equal(json_member_string(kept, "id"), "toolu_1");
    assert_non_null(json_object_get(kept, "x"));
    assert_string_not_equal(json_member_string(changed, "id"), ids.calls[0]);
    assert_null(json_object_get(changed, "x"));
    assert_string_equal(json_member_string(result, "tool_use_id"),
                        json_member_string(changed, "id"));
    json_decref(document);
    history_release(&history);
}

/* D20: what tools are called stays; what a model invented becomes a name, and two stay two. */
static void test_names(void **state)
{
    static const struct {
        const char *name;
        size_t kept; /* bytes before the tail; 0: all */
    } cases[] = {
        {"get_weather", 0},
        {"9-lives", 0},
        {"0123456789012345678901234567890123456789012345678901234567890123", 0},
        {"01234567890123456789012345678901234567890123456789012345678901234", 55},
        {"01234567890123456789012345678901234567890123456789012345678901235", 55},
        {"mcp.files/read", 14},
        {"mcp/files.read", 14},
        {"mcp_files_read", 0},
        {"two words", 9},
        {"\xE6\x97\xA5", 3},
        {"a\"b\\c\n", 6},
        {"", 7},
    };
    struct text names[sizeof(cases) / sizeof(cases[0])] = {TEXT_INIT};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char bare[80];
        wire_put_tool_name(&names[i], cases[i].name);
        snprintf(bare, sizeof(bare), "%.*s", (int)names[i].length - 2, names[i].data + 1);
        assert_true(is_valid(bare, false));
        if (cases[i].kept)
            assert_int_equal(strlen(bare), cases[i].kept + 9);
        else
            assert_string_equal(bare, cases[i].name);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(names[i].data, names[k].data);
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        text_release(&names[i]);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct history history;
    int failed = 1;
    history_init(&history);
    for (size_t i = 0; i < STRANGE_COUNT; i++)
        add_call(&history, strange[i]);
    for (int allowed = 0; failed; allowed++) {
        struct request request = {.items = history.items, .item_count = history.count};
        struct text body = TEXT_INIT;
        struct error error = ERROR_INIT;
        fail_after(allowed);
        bool written =
            wire_openai_chat.write(&body, profile_of("mistral"), "m1", &request, &error);
        failed = fail_never();
        assert_int_equal(written, !failed);
        text_release(&body);
    }
    history_release(&history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strange_ids),
        cmocka_unit_test(test_no_two_calls_get_the_same_id),
        cmocka_unit_test(test_ids_that_stay),
        cmocka_unit_test(test_a_response_whose_id_is_taken),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
