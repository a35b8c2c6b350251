/*
 * json_check - is this text JSON?  Answered without building the value.
 *
 * For text that goes on as it is, such as a tool's result: a whole tree would be allocated only
 * for the answer, and this stands on the path of every call.
 */
#ifndef BASE_JSON_CHECK_H
#define BASE_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* One value of RFC 8259 and nothing else: valid UTF-8, no lone surrogates, at most 2048 deep
 * (what jansson reads), numbers of any size. */
bool json_is_valid(const char *data, size_t length);

#endif
