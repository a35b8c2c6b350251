/* command - what a line of the user's own shell prints, as in git's credential helpers. */
#ifndef BASE_COMMAND_H
#define BASE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

/* Appends what the command writes to its standard output, of at most `max` bytes.  `name` is what
 * messages call it: "the key command".  False with *error (kind config): it cannot be run, wrote
 * too much or failed; what it wrote before is in `out`, and no use. */
bool command_read(const char *command, const char *name, size_t max, struct text *out,
                  struct error *error);

#endif
