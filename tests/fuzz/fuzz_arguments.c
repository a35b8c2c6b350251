/*
 * What a model writes as arguments: repaired, and decoded into a struct with every kind and every
 * option.  What is decoded keeps the promises of the declaration.
 */
#include <mortise/tool.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_check.h"
#include "base/utf8.h"
#include "schema/decode.h"
#include "tool/arguments.h"

MORTISE_RECORD(point,
    (string,  name,  "What it is called.", required, length(1, 3)),
    (integer, count, "How many.",          at_least(0), fallback(1)));

MORTISE_RECORD(values,
    (string,   text,       "A choice.",     one_of("one", "two"), fallback("two")),
    (string,   code,       "A pattern.",    pattern("^[a-z]+$"), at_most(8)),
    (string,   when,       "A date.",       format(date_time)),
    (integer,  whole,      "A range.",      range(-5, 5)),
    (number,   real,       "At least.",     at_least(0.5), fallback(2.5)),
    (boolean,  yes,        "True.",         fallback(true)),
    (json,     any,        "Any value.",    fallback("{\"a\": [1e300]}")),
    (strings,  words,      "Texts.",        length(0, 3), one_of("a", "b"), fallback("[\"a\"]")),
    (strings,  hosts,      "Names.",        format(hostname), pattern("^[^.]*$")),
    (integers, wholes,     "Numbers.",      length(1, 4)),
    (numbers,  reals,      "Fractions.",    at_most(3)),
    (booleans, switches,   "Truths.",       at_least(1)),
    (record,   at, point,  "One of them."),
    (records,  all, point, "Some of them.", length(1, 2)));

static struct shape *shape;

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_text(const char *text)
{
    check(!text || utf8_valid(text, strlen(text)) == strlen(text));
}

static void check_point(const point_args *point)
{
    check(point->name && *point->name && point->count >= 0);
    check(utf8_count(point->name, strlen(point->name)) <= 3);
    check_text(point->name);
}

static void check_values(const values_args *values)
{
    check(strcmp(values->text, "one") == 0 || strcmp(values->text, "two") == 0);
    check(!values->code || (*values->code && strlen(values->code) <= 8));
    check_text(values->when);
    check(values->whole >= -5 && values->whole <= 5 && values->real >= 0.5);
    check(values->any && json_is_valid(values->any, strlen(values->any)));
    check(values->words.count <= 3 && values->reals.count <= 3);
    for (size_t i = 0; i < values->words.count; i++)
        check(strlen(values->words.items[i]) == 1);
    for (size_t i = 0; i < values->hosts.count; i++)
        check(*values->hosts.items[i] && !strchr(values->hosts.items[i], '.'));
    check(values->seen.wholes ? values->wholes.count >= 1 : values->wholes.count == 0);
    check(values->seen.switches ? values->switches.count >= 1 : values->switches.count == 0);
    check(values->seen.all ? values->all.count >= 1 : values->all.count == 0);
    if (values->seen.at)
        check_point(&values->at);
    for (size_t i = 0; i < values->all.count; i++)
        check_point(&values->all.items[i]);
}

static void decode(const char *data, size_t length)
{
    struct error error = ERROR_INIT;
    struct arena memory;
    json_t *object = json_parse(data, length, NULL, &error);
    arena_init(&memory, NULL, 0);
    const values_args *values = object ? decode_arguments(shape, object, &memory, &error) : NULL;
    if (values)
        check_values(values);
    else
        check(error.kind == ERROR_BAD_REQUEST && *error.message);
    if (object && json_is_object(object) && decode_fits(shape, object, &error))
        check(values != NULL);
    arena_release(&memory);
    json_decref(object);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static struct arena memory;
    struct error error = ERROR_INIT;
    (void)argc;
    (void)argv;
    arena_init(&memory, NULL, 0);
    shape = shape_new(&values_shape, &memory, &error);
    check(shape != NULL);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error error = ERROR_INIT;
    struct text text = TEXT_INIT;
    if (arguments_repair((const char *)data, size, &text, &error))
        decode(text.data, text.length);
    decode((const char *)data, size);
    json_is_valid((const char *)data, size);
    text_release(&text);
    return 0;
}
