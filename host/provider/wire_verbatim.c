#include "provider/wire_verbatim.h"

#include <string.h>

#include "base/json.h"

static bool is_among(const char *type, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(type, *names) == 0)
            return true;
    return false;
}

/* What is in a list is told apart by the kinds that only one format has: one of them is in every
 * response. */
static bool is_of(enum wire_format format, const json_t *element)
{
    static const char *const anthropic[] = {"text", "thinking", "redacted_thinking", "tool_use",
                                            NULL};
    static const char *const responses[] = {"message", "reasoning", "function_call", NULL};
    const char *type = json_member_string(element, "type");
    return format == WIRE_GEMINI             ? !type
           : format == WIRE_ANTHROPIC        ? type && !is_among(type, responses)
           : format == WIRE_OPENAI_RESPONSES ? type && !is_among(type, anthropic)
                                             : false;
}

/* Whether an element is a call of a tool of ours; *id is its id, or NULL. */
static bool is_call(const json_t *element, const char **id)
{
    const json_t *call = json_object_get(element, "functionCall");
    const char *type = json_member_string(element, "type");
    bool is_use = type && strcmp(type, "tool_use") == 0;
    bool is_function = type && strcmp(type, "function_call") == 0;
    *id = is_use        ? json_member_string(element, "id")
          : is_function ? json_member_string(element, "call_id")
                        : json_member_string(call, "id");
    return is_use || is_function || json_is_object(call);
}

/* The next call from *at on; NULL: there is none. */
static const struct item *next_call(struct item *const *items, size_t count, size_t *at)
{
    while (*at < count)
        if (items[(*at)++]->kind == ITEM_CALL)
            return items[*at - 1];
    return NULL;
}

bool wire_verbatim_matches(const struct bytes *array, enum wire_format format,
                           struct item *const *items, size_t count)
{
    json_t *elements = json_parse(array->data, array->length, NULL, NULL);
    bool matches = json_is_array(elements);
    size_t at = 0;
    for (size_t i = 0; matches && i < json_array_size(elements); i++) {
        const char *id;
        const json_t *element = json_array_get(elements, i);
        matches = is_of(format, element);
        if (!matches || !is_call(element, &id))
            continue;
        const struct item *call = next_call(items, count, &at);
        matches = call && (!id || strcmp(id, call->call_id) == 0);
    }
    json_decref(elements);
    return matches && !next_call(items, count, &at);
}
