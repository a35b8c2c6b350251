/*
 * recorder_state - what the parts of a recorder share; private to this folder.
 *
 * recorder.c has the file and the runs, recorder_wire.c requests and responses, recorder_tools.c
 * what hooks and tools do.
 */
#ifndef RECORD_RECORDER_STATE_H
#define RECORD_RECORDER_STATE_H

#include "record/record_write.h"
#include "record/recorder.h"

/* A piece of a response, as it came. */
struct chunk {
    int64_t ms; /* since the request */
    size_t end; /* in recorder.body */
};

/* What a call told while it ran. */
struct call_progress {
    char *id;
    struct text list; /* entries of "progress" */
};

/* How often a hook was asked. */
struct hook_count {
    char *name; /* of plugin and hook */
    const char *event;
    unsigned asked;
};

struct recorder {
    int fd; /* -1: it has ended */
    char *path;
    struct worker *worker;
    struct client *client;
    struct hook_tape hook_tape;
    struct call_tape call_tape;
    struct wire_tape wire_tape;
    struct text line;

    /* What was written down last, so that changes are told. */
    struct text model; /* the line */
    struct registry *registry;
    struct item *last; /* of history, a reference */
    size_t item_count;

    /* of the request at hand */
    unsigned turn, attempt;
    int64_t start_ms;
    struct text body;
    struct {
        struct chunk *items;
        size_t count, capacity;
    } chunks;

    struct text edits; /* of the hook that is being asked */
    struct {
        struct hook_count *items;
        size_t count, capacity;
    } asked;
    struct {
        struct call_progress *items;
        size_t count, capacity;
    } progress;
};

/* Closes the record in recorder->line and writes it, without secrets. */
void recorder_write(struct recorder *recorder);
/* There is no memory for what belongs into it: it ends. */
void recorder_fail_memory(struct recorder *recorder);

/* recorder_wire.c */
void recorder_init_wire(struct recorder *recorder);
/* recorder_tools.c */
void recorder_init_tools(struct recorder *recorder);
void recorder_note_progress(struct recorder *recorder, const struct tool_progress *progress);
/* A run is over: what its calls without a result have told is nobody's. */
void recorder_forget_progress(struct recorder *recorder);
void recorder_release_tools(struct recorder *recorder);

#endif
