/*
 * pins - the plugins that the user trusts, by the SHA-256 of their files.
 *
 *     {"mortise_trusted":1,"plugins":[
 *     {"name":"greet","path":"/home/ada/greet.so","sha256":"9f2c…","date":"2030-01-31T12:00:00Z"}]}
 *
 * A pin holds for these bytes under this NAME, which is the file's without its ".so", wherever the
 * file is.  The name counts because what the configuration says of a plugin it says by that name: a
 * copy under another one would run without the limits that were set for it.  Of one path there
 * is one pin, so that what was trusted before it was replaced is not trusted any more.
 *
 * The file is one of its own in the user's data folder, $XDG_DATA_HOME/mortise/trusted.json: a
 * program writes it, what it says holds for this machine, and folders of configuration are
 * copied from one machine to the next.  It is never repaired: a file that is torn, or that others
 * could have written, is an error, and where only trusted plugins are loaded none is.  It is
 * replaced whole, by one writer at a time; readers need no lock.
 *
 * Thread-safe, but for a struct pins, which one thread has or all only read.
 */
#ifndef PLUGIN_PINS_H
#define PLUGIN_PINS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"
#include "plugin/sealed.h"

struct pin {
    const char *name;
    const char *path;   /* absolute, without symbolic links */
    const char *sha256; /* SHA256_TEXT */
    const char *date;   /* when it was trusted: UTC, ISO 8601 */
};

struct pins;

/* A file that is not there is an empty list.  NULL with *error, kind config. */
struct pins *pins_read(const char *file, struct error *error);
void pins_free(struct pins *pins); /* NULL is fine */
/* In the order in which they were trusted; NULL beyond the last. */
const struct pin *pins_at(const struct pins *pins, size_t index);

enum pin_state {
    PIN_NONE,    /* nothing is known of it */
    PIN_TRUSTED,
    PIN_CHANGED, /* its path is that of a pin, its bytes are others */
    PIN_RENAMED  /* its bytes are those of a pin of another name */
};
/* `path` as it is written; *pin is the one that this is about, or NULL. */
enum pin_state pins_look(const struct pins *pins, const char *path, const char *sha256,
                         const struct pin **pin);
/* Whether it is trusted; else *error says why not and what to do, kind plugin. */
bool pins_admit(const struct pins *pins, const char *path, const char *sha256,
                struct error *error);

/* Adds pins, each in the place of what was trusted at its path. */
bool pins_add(const char *file, const struct pin *more, size_t count, struct error *error);
/* Takes out every pin whose name, path or SHA-256 (its first eight digits suffice) this is, and
 * appends a line for each to `removed`: "NAME (PATH)". */
bool pins_remove(const char *file, const char *word, struct text *removed, struct error *error);

/* "greet" of "/usr/lib/mortise/greet.so", as the configuration calls it; malloc'ed.  NULL: no
 * memory. */
char *pins_name(const char *path);

#endif
