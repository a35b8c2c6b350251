/*
 * shape - a plugin's table of arguments: checked when its tool is registered, copied, and written
 * as JSON Schema.
 *
 * Nothing of the table is looked at afterwards.  Patterns are compiled here, so that an author
 * hears of a bad one at once: that is 2 µs for each, and 0.2 ms for PCRE2 in a process that has
 * one at all.  Immutable: any number of threads may decode by one shape.  Used by plugin/meta.c
 * and schema/decode.c.
 */
#ifndef SCHEMA_SHAPE_H
#define SCHEMA_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include <mortise/plugin.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "schema/pattern.h"

#define SHAPE_MAX_FIELDS 1024
#define SHAPE_MAX_DEPTH  16

struct shape_field {
    const char *name;
    size_t name_length;
    mortise_kind kind;
    bool required;
    bool has_min, has_max;
    uint32_t offset, seen_offset;
    double min, max;
    json_t *fallback;           /* or NULL */
    const char *const *choices; /* or NULL */
    struct shape *record;       /* of MORTISE_OBJECT and MORTISE_RECORDS */
    const char *regex;          /* or NULL */
    struct pattern *pattern;    /* of `regex` */
    const char *format;         /* or NULL */
};

struct shape {
    uint32_t struct_size;
    uint32_t field_count;
    struct shape_field *fields;
};

/* Checks that the table can be worked with: sizes, kinds that are known, names that are given and
 * unique, offsets inside the struct, limits, patterns and formats that are what they should be,
 * fallbacks that fit, records that are there and end.  Its memory is the arena's, up to
 * shape_release().  NULL with *error (kind plugin, which names the argument; internal, no memory;
 * config, a pattern needs PCRE2 and it is not installed). */
struct shape *shape_new(const mortise_shape *table, struct arena *memory, struct error *error);
/* Before its arena goes: frees fallbacks and patterns.  NULL is fine. */
void shape_release(struct shape *shape);

/* The JSON Schema of a table that was checked: everything inlined, no $schema, no title. */
void shape_write_schema(const mortise_shape *table, struct text *out);

/* Field `index` of a table, by the stride of its author; what that one did not know is zero. */
mortise_field shape_read_field(const mortise_shape *table, uint32_t index);

/* Whether a limit is a whole number. */
bool shape_is_whole(double value);

#endif
