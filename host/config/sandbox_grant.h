/*
 * sandbox_grant - what the user's configuration lets a plugin's sandboxes have.
 *
 *     "plugin-config": {"shell": {"isolation": "sandbox", "sandbox": {
 *         "readable": ["/opt/data", "~/notes"], "writable": ["workspace"], "executable": ["/usr/bin"],
 *         "network": false, "links": false, "modes": false, "processes": 64, "cpu_s": 10,
 *         "output_mb": 10, "disk_mb": 64, "files": 1000}}}
 *
 * Paths are absolute, or begin with ~/, or are the word "workspace".  Lists of a project's files are
 * never looked at.
 */
#ifndef CONFIG_SANDBOX_GRANT_H
#define CONFIG_SANDBOX_GRANT_H

#include <jansson.h>

#include "base/error.h"
#include "base/text.h"

#define SANDBOX_GRANT_PATHS 32 /* of a list, at most */

/* Appends it as JSON with whole paths and bytes: "readable", "writable", "executable", "network",
 * "links", "modes", "processes", "cpu_s", "output_bytes", "disk_bytes", "files", each only if it is
 * said.  `grants` is the member "sandbox", or NULL: nothing is appended.  False with *error, also for
 * a member that is not known.  `workspace` is NULL when there is none. */
bool sandbox_grant_write(const json_t *grants, const char *workspace, struct text *out,
                         struct error *error);

#endif
