/*
 * output - what code writes to stdout and stderr: shown while it comes, kept for the result.
 *
 * Of each stream the first and the last `limit / 2` bytes are kept.  Those who watch get it in
 * pieces of some size, but not later than a moment after it came; of a flood they get the
 * beginning.
 *
 * output_add() is thread-safe; output_begin() and output_end() belong to one thread.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <mortise/plugin.h>

#include <pthread.h>

enum { OUTPUT_PENDING = 4096 };

struct output_stream {
    const char *name;
    char *head, *tail;
    size_t head_length, tail_length, tail_end; /* the tail is a ring */
    uint64_t left_out;                         /* bytes between the two */
    char pending[OUTPUT_PENDING];              /* not yet shown */
    size_t pending_length;
};

struct output {
    mortise_call *call;
    size_t half; /* of the limit */
    struct output_stream streams[2];
    uint64_t shown;      /* bytes, of both */
    int64_t last_ms;     /* when something was shown */
    bool has_thread, is_over;
    pthread_t thread; /* shows what nothing followed */
    pthread_mutex_t lock; /* for everything above but `thread` and what stays as it is */
    pthread_cond_t changed;
};

/* False: there is no memory. */
bool output_begin(struct output *output, mortise_call *call, size_t limit);

/* `stream` is 1 or 2.  After output_end() nothing happens. */
void output_add(struct output *output, int stream, const char *bytes, size_t length);

/* Shows what is left; nothing is taken any more. */
void output_end(struct output *output);

/* After output_end(): what is kept, without NUL, in memory of the call; NULL: there is none. */
char *output_text(const struct output *output, int stream, size_t *length);

#endif
