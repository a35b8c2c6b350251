/*
 * ignore - the rules of .gitignore files, one set per folder, from the root down.
 *
 * As git has them: later rules win over earlier ones and those of a folder over those above it,
 * "!" takes back, a slash in front or within ties a rule to its folder, one at the end means
 * folders only, ** stands for any folders.  What lies in an ignored folder is ignored.  Beside them
 * .git/info/exclude of the root is read; rules outside of the root, and those of the user's own
 * configuration of git, are not.
 */
#ifndef FILES_IGNORE_H
#define FILES_IGNORE_H

#include <stdbool.h>
#include <stddef.h>

struct ignore_rule;

/* The rules of one folder; the sets of the folders above are linked. */
struct ignore {
    const struct ignore *above; /* or NULL */
    size_t below; /* bytes of a path, from the root, that are this folder's and its / */
    struct ignore_rule *rules;
    size_t count;
};

/* Reads `name` (".gitignore", ".git/info/exclude") in the folder and adds its rules, which are few
 * or none.  Whatever is wrong with the file, it has no rules then. */
void ignore_read(struct ignore *ignore, int folder, const char *name);
void ignore_release(struct ignore *ignore);

/* Whether the rules of this folder and those above ignore the path, from the root. */
bool ignore_has(const struct ignore *ignore, const char *path, bool is_folder);

#endif
