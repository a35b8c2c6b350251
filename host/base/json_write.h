/*
 * json_write - JSON objects by hand, member by member, where a json_t would only be in the way.
 *
 *     text_putc(out, '{');
 *     json_put_string(out, "name", name);
 *     json_put_integer(out, "count", 3);
 *     text_putc(out, '}');
 *
 * Keys are literals of the host's own and are written as they are.
 */
#ifndef BASE_JSON_WRITE_H
#define BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* The comma where one is due: not at the beginning of an object, of a list or of `out`. */
void json_put_comma(struct text *out);
/* The same, the key and the colon. */
void json_put_key(struct text *out, const char *key);
void json_put_text(struct text *out, const char *key, const char *data, size_t length);
void json_put_string(struct text *out, const char *key, const char *string); /* NULL: null */
void json_put_boolean(struct text *out, const char *key, bool value);
void json_put_integer(struct text *out, const char *key, int64_t value);
void json_put_number(struct text *out, const char *key, double value); /* not finite: 0 */

#endif
