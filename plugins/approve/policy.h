/*
 * policy - rules that say which calls are allowed, and which have to be asked for.
 *
 * The first rule whose tool and arguments match decides.  Nothing here changes after
 * policy_read(), so any thread may ask.
 */
#ifndef APPROVE_POLICY_H
#define APPROVE_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

enum decision { DECISION_DENY, DECISION_ASK, DECISION_ALLOW };

struct policy; /* opaque */

/* Reads and checks the JSON text of a policy, its examples too.  NULL: `why` says what is
 * wrong, and names the rule. */
struct policy *policy_read(const char *json, size_t length, char *why, size_t why_size);
void policy_free(struct policy *policy);

enum { NO_RULE = -1 };

/* Decides on a call.  *rule is the place of the rule, counted from 0, or NO_RULE when the
 * default decided; *reason is the rule's own text or NULL, and lives as long as the policy. */
enum decision policy_decide(const struct policy *policy, const char *tool, const json_t *arguments,
                            int *rule, const char **reason);

/* Whether all of `text` is what `glob` describes: `*` is any bytes, `?` any one character, and
 * a backslash takes the next character as it is.  In time |glob| × |text| at most. */
bool glob_matches(const char *glob, size_t glob_length, const char *text, size_t text_length);

#endif
