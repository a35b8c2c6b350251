/* difference - the first place in which two JSON texts differ, told so that a person finds it. */
#ifndef RECORD_DIFFERENCE_H
#define RECORD_DIFFERENCE_H

#include "base/json_walk.h"

/* Appends "at $.messages[2].content, byte 7: recorded …, now …".  False: they are the same, to
 * the byte.  Texts that are no valid JSON are compared as they are. */
bool difference_find(struct json_piece recorded, struct json_piece now, struct text *out);

#endif
