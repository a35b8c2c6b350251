/*
 * account_file - the accounts of all tools, over all processes of a user: lines of JSON.
 *
 *     {"mortise_accounts":1,"plugins":{"PLUGIN":{"TOOL":{"calls":3,…,"times":{"312":3}}}}}
 *
 * What is known is the sum of all lines.  A process adds one, which takes a tenth of a
 * millisecond (to open a database takes more than one); now and then one sums them up and
 * replaces the file.  Both hold a lock on it.  Tools stand there under the names that their plugins
 * gave them, so that neither another version nor a "prefix" loses what was counted.
 *
 * Nothing is synced: after a power cut the latest lines may be missing or torn; a line that
 * cannot be read does not count.
 */
#ifndef PLUGIN_ACCOUNT_FILE_H
#define PLUGIN_ACCOUNT_FILE_H

#include <jansson.h>

#include "base/error.h"
#include "plugin/account.h"

struct account_entry {
    const char *plugin;
    const char *tool; /* its own name */
    struct account_sum sum;
};

/* Adds them to the file, which is made if it is not there, with the folders above it.  Waits
 * about half a second at most for the lock. */
bool account_file_add(const char *path, const struct account_entry *entries, size_t count,
                      struct error *error);
/* Takes out a plugin; *found tells whether it was there. */
bool account_file_forget(const char *path, const char *plugin, bool *found, struct error *error);

/* All of it, to be looked at with account_file_find() and given back with json_decref().  A
 * file that is not there is an empty one.  NULL with *error. */
json_t *account_file_read(const char *path, struct error *error);
/* False: nothing was counted of this tool. */
bool account_file_find(const json_t *book, const char *plugin, const char *tool,
                       struct account_sum *sum);

#endif
