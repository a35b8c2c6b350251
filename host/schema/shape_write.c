/* shape_write - a table of arguments as JSON Schema; see shape.h. */
#include "schema/shape.h"

#include <string.h>

#include "base/json.h"

/* What a kind is in JSON. */
static const struct kind {
    const char *json;      /* "type"; NULL: any value */
    const char *item;      /* "type" of the items of a list of values */
    const char *min, *max; /* NULL: no limits */
} kinds[] = {
    [MORTISE_STRING] = {"string", NULL, "minLength", "maxLength"},
    [MORTISE_INTEGER] = {"integer", NULL, "minimum", "maximum"},
    [MORTISE_NUMBER] = {"number", NULL, "minimum", "maximum"},
    [MORTISE_BOOLEAN] = {"boolean", NULL, NULL, NULL},
    [MORTISE_JSON] = {NULL, NULL, NULL, NULL},
    [MORTISE_OBJECT] = {"object", NULL, NULL, NULL},
    [MORTISE_STRINGS] = {"array", "string", "minItems", "maxItems"},
    [MORTISE_INTEGERS] = {"array", "integer", "minItems", "maxItems"},
    [MORTISE_NUMBERS] = {"array", "number", "minItems", "maxItems"},
    [MORTISE_BOOLEANS] = {"array", "boolean", "minItems", "maxItems"},
    [MORTISE_RECORDS] = {"array", NULL, "minItems", "maxItems"},
};

static void write_object(const mortise_shape *table, const char *description, struct text *out);

static void write_string(struct text *out, const char *string)
{
    text_json_string(out, string, strlen(string));
}

/* A member with the comma before it, if one is needed. */
static void write_key(struct text *out, const char *key)
{
    if (out->length && out->data[out->length - 1] != '{')
        text_putc(out, ',');
    write_string(out, key);
    text_putc(out, ':');
}

static void write_text(struct text *out, const char *key, const char *value)
{
    if (!value)
        return;
    write_key(out, key);
    write_string(out, value);
}

/* Printed by jansson, because printf() writes what the locale of the moment says. */
static void write_number(struct text *out, double number)
{
    if (shape_is_whole(number)) {
        text_printf(out, "%.0f", number);
        return;
    }
    json_t *value = json_real(number);
    if (value)
        text_json(out, value);
    else
        out->failed = true;
    json_decref(value);
}

/* What strings must be, alone or each of a list. */
static void write_words(const mortise_field *field, struct text *out)
{
    write_text(out, "pattern", field->pattern);
    write_text(out, "format", field->format);
    if (!field->choices)
        return;
    write_key(out, "enum");
    for (const char *const *choice = field->choices; *choice; choice++) {
        text_putc(out, choice == field->choices ? '[' : ',');
        write_string(out, *choice);
    }
    text_putc(out, ']');
}

static void write_default(const mortise_field *field, struct text *out)
{
    if (!field->fallback)
        return;
    json_t *value = json_parse(field->fallback, strlen(field->fallback), NULL, NULL);
    write_key(out, "default");
    if (!value)
        out->failed = true; /* it was checked: there is no memory */
    else
        text_json(out, value);
    json_decref(value);
}

static void write_items(const mortise_field *field, struct text *out)
{
    const struct kind *kind = &kinds[field->kind];
    if (!kind->item && field->kind != MORTISE_RECORDS)
        return;
    write_key(out, "items");
    text_putc(out, '{');
    if (field->kind == MORTISE_RECORDS) {
        write_object(field->record, NULL, out);
    } else {
        write_text(out, "type", kind->item);
        write_words(field, out);
    }
    text_putc(out, '}');
}

static void write_field(const mortise_field *field, struct text *out)
{
    const struct kind *kind = &kinds[field->kind];
    text_putc(out, '{');
    if (field->kind == MORTISE_OBJECT) {
        write_object(field->record, field->description, out);
    } else {
        write_text(out, "type", kind->json);
        write_text(out, "description", field->description);
    }
    if (field->flags & MORTISE_HAS_MIN) {
        write_key(out, kind->min);
        write_number(out, field->min);
    }
    if (field->flags & MORTISE_HAS_MAX) {
        write_key(out, kind->max);
        write_number(out, field->max);
    }
    if (field->kind == MORTISE_STRING)
        write_words(field, out);
    write_default(field, out);
    write_items(field, out);
    text_putc(out, '}');
}

/* The members of an object's schema, without its braces. */
static void write_object(const mortise_shape *table, const char *description, struct text *out)
{
    write_text(out, "type", "object");
    write_text(out, "description", description);
    write_key(out, "properties");
    text_putc(out, '{');
    for (uint32_t i = 0; i < table->field_count; i++) {
        const mortise_field field = shape_read_field(table, i);
        write_key(out, field.name);
        write_field(&field, out);
    }
    text_putc(out, '}');

    bool any = false;
    for (uint32_t i = 0; i < table->field_count; i++) {
        const mortise_field field = shape_read_field(table, i);
        if (!(field.flags & MORTISE_REQUIRED))
            continue;
        if (any)
            text_putc(out, ',');
        else
            text_puts(out, ",\"required\":[");
        write_string(out, field.name);
        any = true;
    }
    if (any)
        text_putc(out, ']');
    text_puts(out, ",\"additionalProperties\":false");
}

void shape_write_schema(const mortise_shape *table, struct text *out)
{
    text_putc(out, '{');
    write_object(table, NULL, out);
    text_putc(out, '}');
}
