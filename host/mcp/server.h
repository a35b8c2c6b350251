/*
 * server - the loaded tools for clients of the Model Context Protocol, whatever carries it.
 *
 * A transport (stdio.c, http.c) has a message, mcp_take() reads it and gives the exchange that it
 * opens, and mcp_serve() answers that on a thread that may wait: a tool runs on it.  Both eras of
 * the protocol are served side by side; which one counts is decided for each message, by what is
 * in it (message.h), so that a client may try one after the other.
 *
 * THREADS.  All functions may be called from any thread.  Messages of one connection are taken one
 * after the other, in the order in which they came, and before a later one is taken: a cancel must
 * find the call that it is for.
 */
#ifndef MCP_SERVER_H
#define MCP_SERVER_H

#include "base/error.h"
#include "mcp/message.h"
#include "plugin/set.h"
#include "tool/context.h"

/* Of what a client reads in one message; the official ones give up beyond 10 MiB. */
#define MCP_ANSWER_MAX ((size_t)10000000)

struct mcp_setting {
    struct plugin_set *plugins;         /* outlives the server */
    const struct call_context *context; /* who calls; outlives the server */
    /* Which tools are there; NULL: all. */
    bool (*offered)(void *data, const struct tool *tool);
    void *offered_data;
    int64_t timeout_ms; /* of a call; -1: none */
    size_t page_size;   /* tools in one answer to tools/list; 0: all */
};

struct mcp_server;

struct mcp_server *mcp_server_new(const struct mcp_setting *setting, struct error *error);
/* After mcp_server_stop(), and once no exchange is left. */
void mcp_server_free(struct mcp_server *server); /* NULL is fine */

/* The set may have another registry now: those who listen are told when the tools that are
 * offered differ from those before. */
void mcp_server_reloaded(struct mcp_server *server);
/* Ends what is open: calls are cancelled, those who listen get their last message. */
void mcp_server_stop(struct mcp_server *server);
/* Tells calls whose time has passed, and answers for tools that do not stop.  To be asked again
 * after so many milliseconds; -1: calls have no limit. */
int mcp_server_tend(struct mcp_server *server);

/* ---- connections -------------------------------------------------------------------------- */

/* Where messages go. */
struct mcp_sink {
    /* One message: a JSON object in one line, without the line feed.  `code` is that of a JSON-RPC
     * error, or 0.  `is_last`: it is the answer, and nothing follows in its exchange.  Never two
     * at once in one exchange; from any thread. */
    void (*send)(void *self, struct slice message, int code, bool is_last);
    void *self;
};

/* A client on the other end of a stream, which knows what it said before.  Requests over HTTP
 * belong to none: each stands for itself. */
struct mcp_connection;

/* `sink` is for what answers no request (tools/list_changed); copied.  NULL: no memory. */
struct mcp_connection *mcp_connection_new(struct mcp_server *server, const struct mcp_sink *sink);
/* Cancels its calls and ends its subscriptions. */
void mcp_connection_free(struct mcp_connection *connection); /* NULL is fine */

/* ---- exchanges ---------------------------------------------------------------------------- */

/* A request and what answers it. */
struct mcp_exchange;

/* Reads one message of `length` bytes, which is copied.  NULL: nothing answers it (a notification,
 * which is carried out here, or a response).  What cannot be read is an exchange as well, with the
 * error as its answer.  `connection` may be NULL (HTTP); `sink` is copied. */
struct mcp_exchange *mcp_take(struct mcp_server *server, struct mcp_connection *connection,
                              const char *message, size_t length, const struct mcp_sink *sink);

/* What was read; for a transport that has more to check. */
const struct mcp_message *mcp_exchange_message(const struct mcp_exchange *exchange);
/* Appends the input schema of the tool that it calls, when that word is in it. */
void mcp_exchange_put_schema(const struct mcp_exchange *exchange, const char *word,
                             struct text *out);
/* Whether serving it takes no time: it runs no tool. */
bool mcp_exchange_is_quick(const struct mcp_exchange *exchange);
/* Makes an error of it, in the place of serving it. */
void mcp_exchange_refuse(struct mcp_exchange *exchange, int code, const char *message);
/* The same for a call of a tool that cannot be run: the answer is a result that is an error, which
 * the model reads.  Any other request is refused as with MCP_INTERNAL_ERROR. */
void mcp_exchange_fail(struct mcp_exchange *exchange, const char *message);
/* For HTTP, where a header tells it: which revision of the legacy era the answer is for.  Without
 * it that is what `initialize` agreed on, or 2025-11-25.  Nothing to a modern request. */
void mcp_exchange_set_revision(struct mcp_exchange *exchange, enum mcp_revision revision);
/* Sends all that answers it, unless it was cancelled, and lets go of it.  Returns before the last
 * message when it is a subscription. */
void mcp_serve(struct mcp_exchange *exchange);

/* For a transport on which the end of the stream is a cancel: a second reference, which outlives
 * mcp_serve(); after mcp_exchange_cancel() nothing more is sent. */
struct mcp_exchange *mcp_exchange_ref(struct mcp_exchange *exchange);
void mcp_exchange_cancel(struct mcp_exchange *exchange);
void mcp_exchange_unref(struct mcp_exchange *exchange); /* NULL is fine */

#endif
