/*
 * fake_shape - tables of arguments as a plugin would write them.
 *
 *     struct place { const char *name; bool seen_name; };
 *     static const mortise_field place_fields[] = {FAKE_FIELD(place, name, MORTISE_STRING, …)};
 *     FAKE_SHAPE(place, place_fields);
 */
#ifndef TEST_FAKE_SHAPE_H
#define TEST_FAKE_SHAPE_H

#include <mortise/plugin.h>

#define FAKE_SHAPE(type, table)                                                                    \
    static const mortise_shape type##_shape = {.size = sizeof(mortise_shape),                      \
                                               .struct_size = sizeof(struct type),                 \
                                               .field_size = sizeof(mortise_field),                \
                                               .field_count = sizeof(table) / sizeof(*(table)),    \
                                               .fields = (table)}

/* A field of `struct type`, whose bool seen_NAME tells whether it came;
 * then its options, at least `.flags = 0`. */
#define FAKE_FIELD(type, member, sort, ...)                                                        \
    {                                                                                              \
        .name = #member, .kind = (sort), .offset = offsetof(struct type, member),                  \
        .seen_offset = offsetof(struct type, seen_##member), __VA_ARGS__                           \
    }

#endif
