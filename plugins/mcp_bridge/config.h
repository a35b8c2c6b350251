/*
 * config - which MCP servers there are: the mcpServers files, as MCP clients share them.
 *
 * A server that cannot be used is named and left out, and the others stay (README.md has the
 * format).  Everything in a configuration is its own and does not change.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mortise/services.h>

enum era_choice { ERA_AUTO, ERA_LEGACY, ERA_MODERN };

/* What holds for every server that does not say otherwise, and what no server says: the plugin's
 * section of the configuration. */
struct limits {
    int64_t connect_ms;   /* until it has opened, and for each request that is no call */
    int64_t timeout_ms;   /* of a call, since it began or since its last progress … */
    int64_t max_ms;       /* … and in all */
    int64_t probe_ms;     /* for the answer to server/discover, before it counts as legacy */
    int64_t close_ms;     /* at its end: for the end of its input, and again for SIGTERM */
    int64_t backoff_ms;   /* before the first restart, and twice as much before each more */
    int64_t debounce_ms;  /* after the last list_changed */
    size_t message_bytes; /* of one message from a server */
};

struct server_config {
    atomic_int refs;
    char *name;  /* as the file has it */
    char *where; /* the file, for people */
    bool is_http;
    enum era_choice era;
    /* of a process */
    char **command; /* NULL-terminated, at least one */
    char *
        *environment; /* "NAME=value", NULL-terminated: what is configured, beside the safe ones */
    char *folder;     /* to begin in; NULL: where the host is */
    /* over HTTP */
    char *url;
    mortise_http_header *headers;
    size_t header_count;
    /* which tools: names as the server has them, NULL-terminated; NULL: all, or none */
    char **allowed, **excluded;
    struct limits limits;
    /* of all that makes the connection and of what is asked of it: servers with the same key are
     * the same server */
    char key[33];
};

struct server_list {
    struct server_config **servers; /* in the order of the files */
    size_t count;
};

/* Gets what is wrong, one line each; `level` is MORTISE_LOG_ERROR, …. */
struct config_report {
    void (*line)(void *self, uint32_t level, const char *text);
    void *self;
};

/* Adds the servers of one file, or of its text; a name that is there stays.  What is wrong is
 * reported, and that there is no file unless `may_be_absent`.  False: no memory. */
bool config_read_file(struct server_list *list, const char *path, bool may_be_absent,
                      const struct limits *limits, const struct config_report *report);
bool config_read_text(struct server_list *list, const char *path, const char *json,
                      const struct limits *limits, const struct config_report *report);
/* Every server that is started has this variable: none adds the user's servers to its own, or a
 * mortise that serves its tools to itself would start another one, and so on without an end. */
#define CONFIG_BRIDGED "MORTISE_MCP_BRIDGED"
/* Adds those of the files that $MORTISE_MCP_CONFIG names, or else of the user's own. */
bool config_read_all(struct server_list *list, const struct limits *limits,
                     const struct config_report *report);

void config_release(struct server_list *list);
struct server_config *config_ref(struct server_config *config);
void config_unref(struct server_config *config); /* NULL is fine */

#endif
