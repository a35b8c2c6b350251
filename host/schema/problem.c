#include "schema/problem.h"

#include <stdarg.h>
#include <string.h>

#include "base/utf8.h"

#define PROBLEMS_MAX 5
#define QUOTE_BYTES  60
#define CHOICES_MAX  30

bool problems_full(const struct problems *problems)
{
    return problems->count >= PROBLEMS_MAX || problems->no_memory;
}

static void write_place(struct text *out, const struct place *place)
{
    if (place->outer)
        write_place(out, place->outer);
    if (!place->name)
        text_printf(out, "[%zu]", place->index);
    else if (place->outer)
        text_printf(out, ".%.64s", place->name);
    else
        text_printf(out, "%.64s", place->name);
}

void problem_add(struct problems *problems, const struct place *place, const char *format, ...)
{
    if (problems->count++ >= PROBLEMS_MAX)
        return;
    struct text *out = &problems->text;
    text_puts(out, out->length ? "\n" : "");
    text_puts(out, problems->subject == PROBLEM_ARGUMENTS ? "Invalid argument: " : "");
    if (place) {
        text_putc(out, '\'');
        write_place(out, place);
        text_puts(out, "' ");
    } else {
        text_puts(out, problems->subject == PROBLEM_RESULT ? "the result " : "the arguments ");
    }
    va_list args;
    va_start(args, format);
    text_vprintf(out, format, args);
    va_end(args);
}

void problem_more(struct problems *problems, const char *format, ...)
{
    if (problems->count > PROBLEMS_MAX)
        return;
    va_list args;
    va_start(args, format);
    text_vprintf(&problems->text, format, args);
    va_end(args);
}

void problem_got(struct problems *problems, const json_t *value)
{
    if (problems->count > PROBLEMS_MAX)
        return;
    struct text json = TEXT_INIT;
    text_json(&json, value);
    text_puts(&problems->text, ", got ");
    text_append(&problems->text, text_cstr(&json),
                utf8_cut(text_cstr(&json), json.length, QUOTE_BYTES));
    if (json.length > QUOTE_BYTES)
        text_puts(&problems->text, "…");
    text_release(&json);
}

void problem_choices(struct problems *problems, const char *const *choices)
{
    if (problems->count > PROBLEMS_MAX)
        return;
    for (size_t i = 0; choices[i]; i++) {
        if (i)
            text_puts(&problems->text, ", ");
        if (i == CHOICES_MAX) {
            text_puts(&problems->text, "…");
            return;
        }
        text_json_string(&problems->text, choices[i], strlen(choices[i]));
    }
}

bool problems_settle(struct problems *problems, struct error *error)
{
    bool fine = !problems->count && !problems->no_memory;
    if (problems->no_memory || problems->text.failed)
        error_memory(error);
    else if (!fine)
        error_set(error, ERROR_BAD_REQUEST, "%s", text_cstr(&problems->text));
    text_release(&problems->text);
    return fine;
}
