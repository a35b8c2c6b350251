/* server_private - what the files of the server's core share: server.c (connections, and who is
 * told of changes), exchange.c (a request's life), methods.c (what answers it), tool_call.c,
 * progress.c, listen.c and batch.c. */
#ifndef MCP_SERVER_PRIVATE_H
#define MCP_SERVER_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "mcp/catalogue.h"
#include "mcp/server.h"
#include "tool/call.h"

#define MCP_META "io.modelcontextprotocol/"

struct mcp_server {
    struct mcp_setting setting;
    pthread_mutex_t lock;      /* for what is open */
    struct mcp_exchange *open; /* calls, batches and subscriptions */
    unsigned listeners;
    uint64_t change; /* counts those that listeners are told of */
    bool stopped;

    pthread_mutex_t telling; /* for the rest; held while connections are told */
    struct mcp_connection *connections;
    struct catalogues catalogues;
    struct catalogue *told; /* what clients know of, as far as they asked */

    pthread_mutex_t asking; /* hooks of one session are asked one at a time */
};

struct mcp_connection {
    struct mcp_server *server;
    struct mcp_sink sink;
    enum mcp_revision revision; /* what `initialize` agreed on; of the thread that takes */
    struct text capabilities;   /* what it said the client can; likewise */
    atomic_bool is_initialized;
    struct mcp_connection *previous, *next; /* server->telling */
};

enum mcp_method {
    METHOD_UNKNOWN,
    METHOD_INITIALIZE,
    METHOD_PING,
    METHOD_DISCOVER,
    METHOD_TOOLS_LIST,
    METHOD_TOOLS_CALL,
    METHOD_LISTEN,
    METHOD_RESOURCES,
    METHOD_TEMPLATES,
    METHOD_PROMPTS,
    METHOD_BATCH
};

/* How far a tool is, as its client was told (progress.c). */
struct mcp_progress {
    pthread_mutex_t lock;
    bool began, is_numeric;
    double told;      /* the last value */
    unsigned credit;  /* notifications that may be sent at once … */
    int64_t since_ms; /* … and when that was reckoned */
    bool waits;       /* the latest, which was not sent */
    double done, total;
    struct text message;
};

struct mcp_exchange {
    atomic_uint refs;
    struct mcp_server *server;
    struct mcp_connection *connection; /* server->lock; NULL: none, or it is gone */
    struct mcp_sink sink;
    struct mcp_message message; /* in `text` */
    enum mcp_method method;
    enum mcp_revision revision;
    struct call *call;        /* server->lock; while its tool runs */
    int64_t deadline_ms;      /* of a call, on clock_ms(); -1: none */
    bool was_told;            /* server->lock; that it is past */
    struct text capabilities; /* of the client, in the legacy era */
    struct mcp_progress progress;
    struct mcp_batch *batch; /* METHOD_BATCH */

    int code; /* of the error that answers it; 0: none so far */
    char problem[256];
    char capability[64]; /* MCP_MISSING_CAPABILITY: which */
    bool fails;          /* the problem is the result of its tool */

    atomic_bool is_stopped;  /* its tool shall stop */
    atomic_bool is_silent;   /* cancelled: nothing is sent any more */
    pthread_mutex_t sending; /* one message at a time; for the next */
    bool is_over;            /* the answer was sent */

    bool is_open, listens;                /* server->lock */
    uint64_t told_change;                 /* server->lock; of one that listens */
    struct mcp_exchange *previous, *next; /* server->lock */
    char text[];
};

/* ---- exchange.c ---- */

/* mcp_take(); a message of a batch can be no batch itself. */
struct mcp_exchange *mcp_take_message(struct mcp_server *server, struct mcp_connection *connection,
                                      struct slice message, const struct mcp_sink *sink,
                                      bool in_batch);

/* Sends a message, or none when it was cancelled or answered. */
void mcp_send(struct mcp_exchange *exchange, const struct text *message, int code, bool is_last);
/* Sends the error of `exchange`. */
void mcp_send_error(struct mcp_exchange *exchange);
/* Makes it an error: the text is the format's. */
void mcp_refuse(struct mcp_exchange *exchange, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Takes it out of what is open, so that its id is free again.  False: it was not. */
bool mcp_close(struct mcp_exchange *exchange);
/* Tells its tool to stop; the answer is sent all the same. */
void mcp_stop(struct mcp_exchange *exchange);

/* The beginning and the end of the answer to a request: the members of its result go between
 * them. */
void answer_begin(struct mcp_exchange *exchange, struct text *out);
void answer_close(struct mcp_exchange *exchange, struct text *out);
bool mcp_is_modern(const struct mcp_exchange *exchange);

/* ---- methods.c ---- */

/* By its name and the era of its message. */
enum mcp_method method_find(const struct mcp_message *message);
/* Refuses what is not to be served. */
void method_check(struct mcp_exchange *exchange);
/* What of an `initialize` later messages depend on.  On the thread that takes. */
void method_initialize(struct mcp_connection *connection, struct mcp_exchange *exchange);
void method_serve(struct mcp_exchange *exchange);

/* ---- the other methods ---- */

void tool_call_serve(struct mcp_exchange *exchange);
/* The answer to a call whose tool did not stop in time; what it says later is dropped. */
void tool_call_give_up(struct mcp_exchange *exchange);

/* Acknowledges it, and takes it in among those who are told, with its reference.  False: it is an
 * error now, or over already. */
bool listen_serve(struct mcp_exchange *exchange);
/* Its last message; without memory that is an error. */
void listen_answer(struct mcp_exchange *exchange);
/* Tells all of them that there are other tools. */
void listen_tell(struct mcp_server *server);
/* Sends each its last message. */
void listen_end(struct mcp_server *server);

void mcp_progress_init(struct mcp_progress *progress);
void mcp_progress_release(struct mcp_progress *progress);
void mcp_progress_take(struct mcp_exchange *exchange, const struct progress *news);
/* What waits is sent. */
void mcp_progress_end(struct mcp_exchange *exchange);

/* Takes the messages of a list apart.  False: it is refused. */
bool batch_take(struct mcp_exchange *exchange);
void batch_serve(struct mcp_exchange *exchange);
void batch_free(struct mcp_batch *batch); /* NULL is fine */

#endif
