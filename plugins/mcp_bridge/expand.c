#include "expand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"

static bool begins(const char *text, const char *end, const char *start)
{
    size_t length = strlen(start);
    return (size_t)(end - text) >= length && memcmp(text, start, length) == 0;
}

static bool is_name(const char *text, size_t length)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    if (length == 0 || !strchr(letters, text[0]))
        return false;
    for (size_t i = 1; i < length; i++)
        if (!strchr(letters, text[i]) && !(text[i] >= '0' && text[i] <= '9'))
            return false;
    return true;
}

/* What is between the braces. */
static bool put_variable(struct buffer *out, const char *text, const char *end, char *problem,
                         size_t size)
{
    char name[256];
    const char *begin = text;
    if (begins(text, end, "env://"))
        text += strlen("env://");
    else if (begins(text, end, "env:"))
        text += strlen("env:");
    const char *fallback = text;
    while (fallback < end && !begins(fallback, end, ":-"))
        fallback++;
    size_t length = (size_t)(fallback - text);
    if (length >= sizeof(name) || !is_name(text, length)) {
        snprintf(problem, size, "'${%.*s}' is no variable of the environment", (int)(end - begin),
                 begin);
        return false;
    }
    memcpy(name, text, length);
    name[length] = '\0';
    const char *value = getenv(name);
    if (!value && fallback == end) {
        snprintf(problem, size, "the variable '%s' is not set: set it, or write ${%s:-} for none",
                 name, name);
        return false;
    }
    bool is_absent = !value || (!*value && fallback < end);
    if (is_absent)
        buffer_put(out, fallback + 2, (size_t)(end - fallback) - 2);
    else
        buffer_puts(out, value);
    return true;
}

char *expand(const char *text, char *problem, size_t size)
{
    struct buffer out = BUFFER_INIT;
    const char *variable;
    bool is_good = true;
    while (is_good && (variable = strstr(text, "${"))) {
        const char *end = strchr(variable, '}');
        buffer_put(&out, text, (size_t)(variable - text));
        if (!end) {
            snprintf(problem, size, "'%.80s' has no closing brace", variable);
            is_good = false;
            break;
        }
        is_good = put_variable(&out, variable + 2, end, problem, size);
        text = end + 1;
    }
    if (!is_good) {
        buffer_release(&out);
        return NULL;
    }
    buffer_puts(&out, text);
    char *expanded = buffer_take(&out);
    if (!expanded)
        snprintf(problem, size, "out of memory");
    return expanded;
}
