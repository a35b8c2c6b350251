/*
 * seen - which content of which file a session has read, so that nothing is overwritten that the
 * model does not know.
 *
 * A file is known by its session and path; its content by its length and a 64-bit hash.  The last
 * SEEN_MOST are kept.  [thread-safe]
 */
#ifndef FILES_SEEN_H
#define FILES_SEEN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEEN_MOST = 2048 };

struct content {
    uint64_t hash, length;
};

struct seen_file;
struct seen {
    pthread_mutex_t lock;
    struct seen_file *newest;
    size_t count;
};

enum seen_state {
    SEEN_NOT,     /* it was never read, or too long ago */
    SEEN_CHANGED, /* it is not as it was read */
    SEEN_PART,    /* it is; only a part was read */
    SEEN_WHOLE
};

void seen_init(struct seen *seen);
void seen_release(struct seen *seen);

struct content content_of(const char *data, size_t length);

/* Lines `from` to `to` (from 1) of `lines` were read; a part of which something was left out says
 * that there is a line more.  Parts of the same content that touch are put together.  Without
 * memory it is not remembered, and will have to be read again. */
void seen_note(struct seen *seen, const char *session, const char *path, struct content content,
               uint64_t from, uint64_t to, uint64_t lines);

enum seen_state seen_ask(struct seen *seen, const char *session, const char *path,
                         struct content content);

#endif
