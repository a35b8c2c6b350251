/* What a model writes as arguments: repaired, and decoded into a struct of every kind. */
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/json_check.h"
#include "tool/arguments.h"
#include "schema/decode.h"

struct record {
    const char *name;
    int64_t count;
    bool seen[2];
};

struct values {
    const char *text;
    int64_t integer;
    double number;
    bool boolean;
    const char *json;
    mortise_list strings;
    mortise_list integers;
    mortise_list records;
    struct record record;
    bool seen[9];
};

static const char *const choices[] = {"one", "two", NULL};

static const mortise_field record_fields[] = {
    {.name = "name", .kind = MORTISE_STRING, .flags = MORTISE_REQUIRED,
     .offset = offsetof(struct record, name), .seen_offset = offsetof(struct record, seen[0])},
    {.name = "count", .kind = MORTISE_INTEGER, .fallback = "1",
     .offset = offsetof(struct record, count), .seen_offset = offsetof(struct record, seen[1])},
};
static const mortise_shape record_shape = {sizeof(mortise_shape), sizeof(struct record),
                                           sizeof(mortise_field), 2, record_fields};

#define FIELD(field, its_kind, number)                                                             \
    .name = #field, .kind = (its_kind), .offset = offsetof(struct values, field),                  \
    .seen_offset = offsetof(struct values, seen[number])
static const mortise_field fields[] = {
    {FIELD(text, MORTISE_STRING, 0), .choices = choices},
    {FIELD(integer, MORTISE_INTEGER, 1), .flags = MORTISE_HAS_MIN | MORTISE_HAS_MAX, .min = -5, .max = 5},
    {FIELD(number, MORTISE_NUMBER, 2)},
    {FIELD(boolean, MORTISE_BOOLEAN, 3)},
    {FIELD(json, MORTISE_JSON, 4)},
    {FIELD(strings, MORTISE_STRINGS, 5)},
    {FIELD(integers, MORTISE_INTEGERS, 6)},
    {FIELD(records, MORTISE_RECORDS, 7), .record = &record_shape},
    {FIELD(record, MORTISE_OBJECT, 8), .record = &record_shape},
};
static const mortise_shape shape = {sizeof(mortise_shape), sizeof(struct values),
                                    sizeof(mortise_field), 9, fields};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error error = ERROR_INIT;
    struct text text = TEXT_INIT;
    struct arena memory;
    if (arguments_repair((const char *)data, size, &text, &error)) {
        json_t *object = json_parse(text.data, text.length, NULL, &error);
        arena_init(&memory, NULL, 0);
        if (object)
            decode_arguments(&shape, object, &memory, &error);
        arena_release(&memory);
        json_decref(object);
    }
    json_is_valid((const char *)data, size);
    text_release(&text);
    return 0;
}
