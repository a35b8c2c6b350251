/*
 * parcel - messages between the host and a plugin in a process of its own.
 *
 * A message is a type and fields in a fixed order, in the machine's own byte order: both ends are
 * the same binary.  It goes over a socket with its length in front: over a stream, or in packets, of
 * which a long message takes several.
 *
 *     struct text out = TEXT_INIT;
 *     parcel_begin(&out, PARCEL_CALL);
 *     parcel_put_u32(&out, 7);
 *     parcel_put_string(&out, "text");
 *     if (!parcel_send(fd, &out, timeout_ms)) …
 *
 * What comes from a plugin is not to be believed: readers look at every length, and after the
 * first thing that is wrong everything they return is 0 or NULL and `bad` stays set.
 */
#ifndef REMOTE_PARCEL_H
#define REMOTE_PARCEL_H

#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"

#define PARCEL_MESSAGE_MAX ((size_t)64 << 20)

enum parcel_type {
    /* On the control socket, to the child. */
    PARCEL_LOAD = 1, /* the plugin and its configuration */
    PARCEL_LANE,     /* a lane: with two descriptors */
    PARCEL_OWN_LANE, /* to PARCEL_LANE_WANTED: why there is none; or with a descriptor (fetcher.h) */
    PARCEL_CLOSE,    /* no call is left, and none will come */
    PARCEL_FORK,     /* a call in a sandbox of its own: with three descriptors (confined.h) */
    /* From the child. */
    PARCEL_FACE,     /* what the plugin says of itself */
    PARCEL_REFUSED,  /* why it did not load; of a call on its lane: why there is no sandbox */
    PARCEL_LOG,      /* of a call in a sandbox of its own: on its lane */
    PARCEL_SECRET,
    PARCEL_LANE_WANTED, /* for requests of the plugin's own */
    PARCEL_CHANGED,     /* it asks to be loaded anew, which is acknowledged by an answer */
    /* To the child, on both. */
    PARCEL_ANSWER,   /* to what was asked last */

    /* On a lane, to the child. */
    PARCEL_CALL = 32,
    PARCEL_HOOK,
    PARCEL_ANSWERED, /* the head of an answer over HTTP, which is acknowledged (asked_http.h) */
    PARCEL_RECEIVED, /* a piece of it, too */
    /* From the child: the end … */
    PARCEL_FINISH = 64,
    PARCEL_VERDICT,
    /* … what nobody answers … */
    PARCEL_EMIT,
    PARCEL_PROGRESS,
    PARCEL_ACKNOWLEDGE,
    PARCEL_STOP, /* no more is wanted of an answer over HTTP */
    /* … and what is answered. */
    PARCEL_ATTACH,
    PARCEL_CONTEXT,
    PARCEL_SERVICE,
    PARCEL_ITEM_COUNT,
    PARCEL_ITEM,
    PARCEL_SET_ITEM,
    PARCEL_REMOVE_ITEM,
    PARCEL_APPEND,
    PARCEL_SET_ARGUMENTS,
    PARCEL_RESPOND,
    PARCEL_SET_RESULT,
    PARCEL_ARTIFACT_SAVE,
    PARCEL_ARTIFACT_LOAD,
    PARCEL_ARTIFACT_LIST,
    PARCEL_MEMORY_ADD,
    PARCEL_MEMORY_SEARCH,
    PARCEL_MEMORY_FORGET,
    PARCEL_STATE_GET,
    PARCEL_STATE_SET,
    PARCEL_STATE_REPLACE,
    PARCEL_STATE_KEYS,
    PARCEL_HTTP_SEND,
    PARCEL_HTTP_FETCH /* on a lane of its own */
};

/* ---- writing ---- */

/* Empties the text and begins a message in it. */
void parcel_begin(struct text *out, enum parcel_type type);
void parcel_put_u32(struct text *out, uint32_t value);
void parcel_put_u64(struct text *out, uint64_t value);
void parcel_put_i64(struct text *out, int64_t value);
void parcel_put_double(struct text *out, double value);
void parcel_put_bytes(struct text *out, const void *data, size_t length); /* data NULL: none */
void parcel_put_string(struct text *out, const char *string);             /* or NULL */
void parcel_put_strings(struct text *out, const char *const *strings); /* NULL-terminated, or NULL */

/* Sends it, also in pieces.  False with errno: the other end is gone, or took nothing for so long
 * (ETIMEDOUT; -1: for ever); or the message has failed or is too long (EMSGSIZE). */
bool parcel_send(int fd, struct text *message, int timeout_ms);
/* The same with descriptors. */
bool parcel_send_fds(int fd, struct text *message, const int *fds, size_t count, int timeout_ms);

/* ---- reading ---- */

#define PARCEL_FDS_MAX 8

/* What has come over a socket and was not yet looked at. */
struct parcel_in {
    struct text buffer;
    size_t taken;
    bool takes_fds; /* else descriptors that are sent never become this process's */
    int fds[PARCEL_FDS_MAX];
    size_t fd_count;
    unsigned vain, skip; /* how often parcel_read_soon() looked in vain, and shall not look */
};
void parcel_in_release(struct parcel_in *in);

/* Reads once; flags as for recv().  As recv(): 0 is the end, -1 with errno a failure (EMSGSIZE: a
 * packet that parcel_send() never sends). */
ssize_t parcel_read(int fd, struct parcel_in *in, int flags);
/* Reads once, and waits for it: for some 50 us without sleeping, because to be woken costs more than
 * a short call takes.  Where that was in vain, the next times it sleeps at once. */
ssize_t parcel_read_soon(int fd, struct parcel_in *in);

struct parcel {
    enum parcel_type type;
    const char *data; /* lives until the next parcel_next() or parcel_read() */
    size_t left;
    bool bad;
};
enum parcel_next { PARCEL_NONE, PARCEL_NEXT, PARCEL_WRONG };
/* Takes the next message that is there as a whole. */
enum parcel_next parcel_next(struct parcel_in *in, struct parcel *message);

uint32_t parcel_u32(struct parcel *message);
uint64_t parcel_u64(struct parcel *message);
int64_t parcel_i64(struct parcel *message);
double parcel_double(struct parcel *message);
bool parcel_flag(struct parcel *message); /* a u32 that is 0 or 1 */
/* With a NUL behind them; NULL: there are none, or the message is bad. */
const char *parcel_bytes(struct parcel *message, size_t *length);
/* Without a NUL inside. */
const char *parcel_string(struct parcel *message);
/* The same, but its absence is wrong. */
const char *parcel_needed(struct parcel *message);
/* Whether nothing was wrong, and nothing is left over. */
bool parcel_ends(const struct parcel *message);

#endif
