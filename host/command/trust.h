/*
 * trust - which plugins may be loaded: `--trust`, and `mortise plugins trust`, trusted, distrust.
 *
 * What is trusted is in $XDG_DATA_HOME/mortise/trusted.json (plugin/pins.h).  Where only that is
 * loaded and the list cannot be used, nothing is loaded.
 */
#ifndef COMMAND_TRUST_H
#define COMMAND_TRUST_H

#include "plugin/pins.h"
#include "plugin/registry.h"

struct app;

struct trust {
    struct pins *pins;    /* NULL: not read, or it cannot be used … */
    struct error failure; /* … and why */
};

/* --trust pinned. */
bool trust_is_asked(const struct app *app);
/* Reads the list as it is now. */
void trust_read(struct app *app);
void trust_release(struct app *app);
/* For loader.admits. */
bool trust_admits(void *app, const char *path, const char *sha256, struct error *error);

/* How a plugin that is loaded stands to the list, which was read.  NULL words: there is nothing to
 * say, because nothing is trusted and nothing has to be. */
struct trust_view {
    const char *word;  /* "trusted", "changed", "unpinned" */
    const char *words; /* for people */
    char sha256[SHA256_TEXT];
};
struct trust_view trust_view(const struct app *app, const struct plugin *plugin);

int trust_add(struct app *app, int count, char **words);
int trust_list(struct app *app);
int trust_remove(struct app *app, int count, char **words);

/* Where the list is; malloc'ed.  NULL with *error: there is no place for it, or no memory. */
char *trust_file(struct error *error);

#endif
