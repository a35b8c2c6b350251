/*
 * mortise/json.h - reading JSON text without a library: the arguments of MORTISE_TOOL_RAW, fields
 * of kind json, the configuration.
 *
 *     char unit[16] = "celsius";
 *     if (mortise_json_string(json, "unit", unit, sizeof(unit)) == MORTISE_INVALID)
 *         return mortise_fail(call, "'unit' is not a short text");
 *
 * A value is a `const char *` to where it begins in a text that ends with NUL; where it ends,
 * its own syntax says.  So objects and lists are read in place, level by level, and nothing is
 * allocated:
 *
 *     const char *edits, *edit = NULL;
 *     if (mortise_json_array(json, "edits", &edits) == MORTISE_OK)
 *         while (mortise_json_next(edits, &edit) == MORTISE_OK)
 *             mortise_json_integer(edit, "line", &line);
 *
 * Each function looks at the member `key` of the object `json`, or with a NULL key at `json`
 * itself.  It returns
 *
 *     MORTISE_OK         it is there
 *     MORTISE_NOT_FOUND  it is absent, or null
 *     MORTISE_INVALID    it is of another kind, or does not fit; or `json` is no object
 *
 * and only with MORTISE_OK changes what the last parameters point to, so that these can hold
 * what stands in for an absent value.
 *
 * Any text may be passed.  What is no JSON, or is nested deeper than 2048, is MORTISE_INVALID;
 * of a name that is there twice the last one counts, as for the host.  All [thread-safe].
 *
 * In the SDK's library.  For C and C++.
 */
#ifndef MORTISE_JSON_H
#define MORTISE_JSON_H

#include <mortise/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In the library of the SDK, which no plugin exports. */
#define MORTISE__OURS __attribute__((visibility("hidden")))

/* A text, with a NUL behind it.  U+0000 becomes U+FFFD. */
MORTISE__OURS mortise_status mortise_json_string(const char *json, const char *key, char *out,
                                                 size_t size);
/* A text of any length, in memory that dies with the call.  MORTISE_NO_MEMORY: none left. */
MORTISE__OURS mortise_status mortise_json_text(mortise_call *call, const char *json,
                                               const char *key, const char **out);
/* The same in memory for free(), where there is no call. */
MORTISE__OURS mortise_status mortise_json_copy(const char *json, const char *key, char **out);
/* Where a value of any kind begins. */
MORTISE__OURS mortise_status mortise_json_value(const char *json, const char *key,
                                                const char **out);
/* A whole number; also one that is written as 12.0 or 1e3. */
MORTISE__OURS mortise_status mortise_json_integer(const char *json, const char *key, int64_t *out);
/* Any number; never infinite. */
MORTISE__OURS mortise_status mortise_json_number(const char *json, const char *key, double *out);
/* true or false. */
MORTISE__OURS mortise_status mortise_json_boolean(const char *json, const char *key, bool *out);
/* Where an object, and a list, begins in `json`. */
MORTISE__OURS mortise_status mortise_json_object(const char *json, const char *key,
                                                 const char **out);
MORTISE__OURS mortise_status mortise_json_array(const char *json, const char *key,
                                                const char **out);
/* A list of texts, which ends with NULL, in one block for free(). */
MORTISE__OURS mortise_status mortise_json_strings(const char *json, const char *key, char ***out);

/* Steps through a list: *item is NULL at first, and then each item in its turn.
 * MORTISE_NOT_FOUND behind the last. */
MORTISE__OURS mortise_status mortise_json_next(const char *array, const char **item);
/* The same for the members of an object; `name` gets the name of each, cut to `size`. */
MORTISE__OURS mortise_status mortise_json_next_member(const char *object, const char **value,
                                                      char *name, size_t size);

/* The bytes of the value that begins at `json`, without space around it; 0: it is no JSON. */
MORTISE__OURS size_t mortise_json_length(const char *json);

/* Writes `text` as a JSON string, quotes included, to `out` of `size` bytes; bytes that are no
 * UTF-8 become U+FFFD.  Returns the length of the whole, as snprintf() does: what is not less
 * than `size` did not fit. */
MORTISE__OURS size_t mortise_json_quote(char *out, size_t size, const char *text, size_t length);

#ifdef __cplusplus
}
#endif

#endif
