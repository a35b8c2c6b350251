/* unconst - for the iterators of jansson, which take what they do not change as not const. */
#ifndef SCHEMA_UNCONST_H
#define SCHEMA_UNCONST_H

#include <stdint.h>

#include <jansson.h>

static inline json_t *unconst(const json_t *value)
{
    return (json_t *)(uintptr_t)value;
}

#endif
