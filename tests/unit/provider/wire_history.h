/* wire_history - conversations for the tests of the writers, one line per item. */
#ifndef TEST_WIRE_HISTORY_H
#define TEST_WIRE_HISTORY_H

#include <stdlib.h>
#include <string.h>

#include "conversation/history.h"
#include "provider/provider.h"
#include "wire_test.h"

/* One of the built-in profiles. */
static inline const struct profile *profile_of(const char *name)
{
    const struct profile *profile = profile_find(name, strlen(name));
    assert_non_null(profile);
    return profile;
}

static inline void add(struct history *history, struct item *item)
{
    struct error error = ERROR_INIT;
    assert_true(history_append(history, item, &error));
}

static inline void say(struct history *history, enum item_role role, const char *text)
{
    enum part_kind kind = role == ROLE_ASSISTANT ? PART_OUTPUT_TEXT : PART_INPUT_TEXT;
    add(history, item_message(role, kind, text, strlen(text)));
}

static inline void call(struct history *history, const char *id, const char *name,
                        const char *arguments, bool valid)
{
    add(history, item_call(id, name, arguments, strlen(arguments), valid));
}

static inline void answer_call(struct history *history, const char *id, const char *text,
                               bool is_error)
{
    add(history, item_output(id, text, strlen(text), is_error));
}

/* Two tools; the second has neither description nor arguments. */
static inline struct toolset two_tools(void)
{
    static const struct tool_definition list[] = {
        {"add", "Adds.", "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}"},
        {"now", "", ""},
    };
    struct toolset tools = {.items = malloc(sizeof(list)), .count = 2};
    assert_non_null(tools.items);
    memcpy(tools.items, list, sizeof(list));
    return tools;
}

#endif
