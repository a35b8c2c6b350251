#include <ctype.h>
#include <string.h>

#include "worker/state.h"

/* What models write around a call, in the templates that servers' parsers are for. */
static const char *const marks[] = {
    "<tool_call>",    "<|tool_call",  "<function=",        "<function_call", "<tool_use>",
    "<|python_tag|>", "[TOOL_CALLS]", "<\xEF\xBD\x9Ctool", "functools[",     "to=functions.",
};

static const char *find(const char *data, size_t length, const char *word)
{
    return memmem(data, length, word, strlen(word));
}

static bool has_mark(const char *data, size_t length)
{
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (find(data, length, marks[i]))
            return true;
    return false;
}

/* The whole answer is JSON, perhaps in a fence, that has what a call has. */
static bool is_json_call(const char *data, size_t length)
{
    while (length && isspace((unsigned char)*data))
        data++, length--;
    const char *line =
        length > 3 && memcmp(data, "```", 3) == 0 ? memchr(data, '\n', length) : NULL;
    if (line) {
        length -= (size_t)(line + 1 - data);
        data = line + 1;
    }
    return length && (*data == '{' || *data == '[') && find(data, length, "\"name\"") &&
           (find(data, length, "\"arguments\"") || find(data, length, "\"parameters\""));
}

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static bool names(const char *data, size_t length, const char *name)
{
    const char *end = data + length;
    for (const char *at = data; (at = find(at, (size_t)(end - at), name)); at++) {
        const char *behind = at + strlen(name);
        if ((at == data || !is_of_name(at[-1])) && (behind == end || !is_of_name(*behind)))
            return true;
    }
    return false;
}

const char *written_call(const struct toolset *tools, const char *data, size_t length)
{
    if (!has_mark(data, length) && !is_json_call(data, length))
        return NULL;
    for (size_t i = 0; i < tools->count; i++)
        if (names(data, length, tools->items[i].name))
            return tools->items[i].name;
    return NULL;
}
