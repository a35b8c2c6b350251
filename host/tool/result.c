#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/utf8.h"
#include "tool/call.h"

#define NAMES_MAX 50

void tool_result_drop_parts(struct tool_result *result)
{
    for (size_t i = 0; i < result->attachment_count; i++)
        attachment_release(&result->attachments[i]);
    free(result->attachments);
    result->attachments = NULL;
    result->attachment_count = 0;
}

void tool_result_release(struct tool_result *result)
{
    tool_result_drop_parts(result);
    text_release(&result->text);
    *result = (struct tool_result){0};
}

void tool_result_fail(struct tool_result *result, mortise_category category, const char *code,
                      const char *format, ...)
{
    struct text text = TEXT_INIT;
    va_list args;
    va_start(args, format);
    text_vprintf(&text, format, args);
    va_end(args);

    tool_result_release(result);
    if (utf8_valid(text_cstr(&text), text.length) == text.length) {
        result->text = text;
    } else { /* a name or a reason that was cut inside a character */
        utf8_append_clean(&result->text, text.data, text.length);
        text_release(&text);
    }
    result->category = category_name(category);
    snprintf(result->component, sizeof(result->component), "host");
    snprintf(result->code, sizeof(result->code), "%s", code);
}

const char *category_name(mortise_category category)
{
    static const char *const names[] = {
        [MORTISE_INTERNAL] = "internal",         [MORTISE_INVALID_INPUT] = "invalid_input",
        [MORTISE_UNAUTHORIZED] = "unauthorized", [MORTISE_FORBIDDEN] = "forbidden",
        [MORTISE_MISSING] = "not_found",         [MORTISE_RATE_LIMITED] = "rate_limited",
        [MORTISE_TIMEOUT] = "timeout",           [MORTISE_UNAVAILABLE] = "unavailable",
        [MORTISE_ABORTED] = "cancelled",         [MORTISE_NOT_SUPPORTED] = "unsupported",
    };
    return category < sizeof(names) / sizeof(names[0]) ? names[category] : names[MORTISE_INTERNAL];
}

bool category_is_retryable(const char *category)
{
    static const mortise_category retryable[] = {MORTISE_RATE_LIMITED, MORTISE_TIMEOUT,
                                                 MORTISE_UNAVAILABLE};
    for (size_t i = 0; category && i < sizeof(retryable) / sizeof(*retryable); i++)
        if (strcmp(category_name(retryable[i]), category) == 0)
            return true;
    return false;
}

/* ---- names ---- */

static void list_names(struct text *out, const struct registry *registry,
                       bool (*offered)(void *data, const struct tool *tool), void *data)
{
    const struct tool *tool;
    size_t listed = 0;
    size_t left_out = 0;
    for (size_t i = 0; (tool = registry_tool(registry, i)); i++) {
        if (offered && !offered(data, tool))
            continue;
        if (listed == NAMES_MAX)
            left_out++;
        else
            text_printf(out, "%s%s", listed++ ? ", " : "The tools are: ", tool->name);
    }
    if (left_out)
        text_printf(out, " and %zu more", left_out);
    if (!listed)
        text_puts(out, "There are no tools");
}

void tool_result_unknown(struct tool_result *result, const struct registry *registry,
                         const char *name, bool (*offered)(void *data, const struct tool *tool),
                         void *data)
{
    struct suggestion suggestion;
    suggestion_begin(&suggestion, name);
    const struct tool *tool;
    for (size_t i = 0; (tool = registry_tool(registry, i)); i++)
        if (!offered || offered(data, tool))
            suggestion_consider(&suggestion, tool->name);

    tool_result_fail(result, MORTISE_MISSING, "tool.not_found", "Tool '%.100s' not found. ", name);
    if (suggestion.best)
        text_printf(&result->text, "Did you mean '%s'? ", suggestion.best);
    list_names(&result->text, registry, offered, data);
}

/* Tool names are made of these only (D20), so whatever else stands in a name ends a prefix. */
static size_t name_length(const char *string)
{
    return strspn(string, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
}

const struct tool *tool_resolve(const struct registry *registry, const char *name)
{
    const struct tool *exact = registry_find(registry, name);
    if (exact)
        return exact;

    /* Only the last part may name a tool: with two it is anyone's guess which was meant. */
    const struct tool *found = NULL;
    while (*name) {
        char part[65];
        size_t length = name_length(name);
        if (found)
            return NULL;
        if (length && length < sizeof(part)) {
            memcpy(part, name, length);
            part[length] = '\0';
            found = registry_find(registry, part);
        }
        name += length;
        if (*name)
            name++;
        else
            return found;
    }
    return NULL;
}

bool tool_is_long_running(const struct registry *registry, const char *name)
{
    const struct tool *tool = tool_resolve(registry, name);
    return tool && (tool->meta.flags & MORTISE_LONG_RUNNING);
}
