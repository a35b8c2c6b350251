/*
 * record_write - what stands in the records of a recording (recording.h), member by member.
 *
 * For who records, and for who compares what happens now with what is recorded: the same things
 * give the same bytes.  Nothing is redacted here.
 */
#ifndef RECORD_RECORD_WRITE_H
#define RECORD_RECORD_WRITE_H

#include "provider/tape.h"
#include "record/recording.h"
#include "worker/worker.h"

/* Begins a record; the caller adds members and the closing brace. */
void record_begin(struct text *out, enum record_kind kind);

/* "model": who is asked, and everything that its requests depend on. */
void record_write_model(struct text *out, const struct client *client);
/* "plugins". */
void record_write_plugins(struct text *out, const struct registry *registry);

/* "PLUGIN/NAME", of names that have 64 bytes at most. */
#define RECORD_HOOK_NAME_SIZE (64 + 1 + 64 + 1)
void record_hook_name(char name[RECORD_HOOK_NAME_SIZE], const struct hook *hook);
/* An entry of "edits". */
void record_write_edit(struct text *out, const struct hook_edit *edit);
/* "hook", where `edits` is a list of such entries, without brackets. */
void record_write_hook(struct text *out, const struct hook *hook, const char *event, unsigned n,
                       const struct text *edits, const char *verdict, const char *reason);

/* The members of "tool_result" that are the same whenever the tool does the same. */
void record_write_result(struct text *out, const struct dispatch_call *call, struct slice arguments,
                         bool made);

/* An error as a member. */
void record_write_error(struct text *out, const struct error *error);
/* The members of "result" that are the same whenever the run goes the same. */
void record_write_outcome(struct text *out, const struct worker_result *result);

/* A format of requests by its name; NULL: there is no such. */
const struct wire *record_wire(const char *name);
/* The booleans and strings of a profile that its requests depend on, by name and offset. */
struct profile_fact {
    const char *name;
    size_t offset;
    bool is_string; /* else a boolean */
};
extern const struct profile_fact profile_facts[]; /* up to one without a name */
/* The numbers of struct part_rules likewise. */
struct part_fact {
    const char *name;
    int64_t (*get)(const struct part_rules *rules);
    void (*set)(struct part_rules *rules, int64_t value);
};
extern const struct part_fact part_facts[];

#endif
