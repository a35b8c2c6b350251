/*
 * mortise/services.h - what a host can do for a tool beside running it.
 *
 * A service is a table of functions with a versioned id.  It is optional: a host, or a
 * configuration, that does not have it gives NULL.
 *
 *     const mortise_artifacts *artifacts = mortise_artifacts_of(call);
 *     if (!artifacts)
 *         return mortise_fail(call, "files cannot be kept here");
 *     return artifacts->save(call, MORTISE_OF_SESSION, "plot.png", "image/png", data, length, NULL);
 *
 * The call says whose data it is: a tool reaches that of its own caller and nothing else.
 *
 * All functions are [thread-safe] until the call is finished, and may wait for a disk or a
 * network.  What they return lives as long as the call.  When one fails, by any status below
 * MORTISE_OK but MORTISE_NOT_FOUND and MORTISE_CONFLICT, its reason is kept as by fail(), so that
 * the tool can return that status as its own.  Functions that take the host in place of a call are
 * for any thread as long as the plugin lives, and say themselves whose memory it is.
 *
 * Tables grow only at the end (MORTISE_HAS); a new meaning gets a new id.
 *
 * For C and C++.
 */
#ifndef MORTISE_SERVICES_H
#define MORTISE_SERVICES_H

#include <mortise/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whose data. */
typedef uint32_t mortise_owner;
enum {
    MORTISE_OF_SESSION = 0, /* gone with the session; without a session, of the run alone */
    MORTISE_OF_USER    = 1, /* all sessions of that user, with that tenant */
    MORTISE_OF_APP     = 2  /* everybody who comes through this application */
};

/* ---- artifacts: files with versions, shared by all plugins ------------------------------- */

#define MORTISE_ARTIFACTS_ID "mortise.artifacts/1"
#define MORTISE_ARTIFACT_MAX ((size_t)10 << 20) /* bytes of one version */

/* One version of a file. */
typedef struct mortise_artifact {
    uint32_t size;
    uint32_t version; /* from 1 */
    const char *name;
    const char *mime_type;
    int64_t saved_ms; /* since 1970 */
    size_t length;
    const void *data; /* list(): NULL */
} mortise_artifact;

/* The service MORTISE_ARTIFACTS_ID. */
typedef struct mortise_artifacts {
    uint32_t size;
    uint32_t reserved;

    /* Keeps a new version.  A name is 1 to 200 bytes of UTF-8, none of them a control character
     * or '/', and does not begin with '.'.  A media type is like "image/png" and has at most 100
     * bytes; NULL is "application/octet-stream".  `version` may be NULL. */
    mortise_status (*save)(mortise_call *call, mortise_owner owner, const char *name,
                           const char *mime_type, const void *data, size_t length,
                           uint32_t *version);
    /* One version, or the latest (0).  MORTISE_NOT_FOUND leaves *artifact NULL. */
    mortise_status (*load)(mortise_call *call, mortise_owner owner, const char *name,
                           uint32_t version, const mortise_artifact **artifact);
    /* The latest version of each, by name. */
    mortise_status (*list)(mortise_call *call, mortise_owner owner,
                           const mortise_artifact *const **artifacts, size_t *count);
} mortise_artifacts;

/* ---- memory: texts to be found again, of one user, shared by all plugins ------------------- */

#define MORTISE_MEMORY_ID  "mortise.memory/1"
#define MORTISE_MEMORY_MAX ((size_t)64 << 10) /* bytes of one text */

/* One text that was found. */
typedef struct mortise_memory_entry {
    uint32_t size;
    uint32_t reserved;
    int64_t id;
    int64_t saved_ms; /* since 1970 */
    const char *text;
    size_t length;
    double score; /* higher fits better */
} mortise_memory_entry;

/* The service MORTISE_MEMORY_ID. */
typedef struct mortise_memory {
    uint32_t size;
    uint32_t reserved;

    /* Remembers a text of 1 to MORTISE_MEMORY_MAX bytes.  `id` may be NULL. */
    mortise_status (*add)(mortise_call *call, const char *text, size_t length, int64_t *id);
    /* The entries that have most of the query's words, best first; at most `limit`, and 1000.  Any
     * text is a good query; its first 4096 bytes count.  None found: MORTISE_OK and no entries. */
    mortise_status (*search)(mortise_call *call, const char *query, size_t limit,
                             const mortise_memory_entry *const **entries, size_t *count);
    /* MORTISE_NOT_FOUND: there is none of that id. */
    mortise_status (*forget)(mortise_call *call, int64_t id);
} mortise_memory;

/* ---- state: JSON values by key, each plugin's own ------------------------------------------- */

#define MORTISE_STATE_ID "mortise.state/1"
#define MORTISE_STATE_MAX ((size_t)1 << 20) /* bytes of one value */

/* The service MORTISE_STATE_ID. */
typedef struct mortise_state_service {
    uint32_t size;
    uint32_t reserved;

    /* The value as JSON text.  MORTISE_NOT_FOUND leaves *json NULL. */
    mortise_status (*get)(mortise_call *call, mortise_owner owner, const char *key,
                          const char **json);
    /* A key is 1 to 200 bytes of UTF-8.  `json` NULL removes it. */
    mortise_status (*set)(mortise_call *call, mortise_owner owner, const char *key,
                          const char *json);
    /* Sets it only if it still is `expected`, to the byte as get() gave it (NULL: only if it is
     * not there).  MORTISE_CONFLICT: it is something else by now, and nothing was changed. */
    mortise_status (*replace)(mortise_call *call, mortise_owner owner, const char *key,
                              const char *expected, const char *json);
    /* The keys that begin with `prefix` ("": all), sorted. */
    mortise_status (*keys)(mortise_call *call, mortise_owner owner, const char *prefix,
                           const char *const **keys, size_t *count);
} mortise_state_service;

/* ---- secrets: what the configuration grants to this plugin ---------------------------------- */

#define MORTISE_SECRETS_ID "mortise.secrets/1"

/* The service MORTISE_SECRETS_ID. */
typedef struct mortise_secrets {
    uint32_t size;
    uint32_t reserved;

    /* The value, which lives as long as the plugin; NULL: not granted, or not to be had, which
     * the host's log explains.  Keep it out of results, errors and logs. */
    const char *(*get)(const mortise_host *host, const char *name);
} mortise_secrets;

/* ---- http: requests through the host's libcurl, its proxy, its certificates and its limits --- */

#define MORTISE_HTTP_ID "mortise.http/1"

/* "content-type" and "text/plain": one line of a request's or an answer's head. */
typedef struct mortise_http_header {
    const char *name;
    const char *value;
} mortise_http_header;

enum {
    MORTISE_HTTP_PUBLIC_ONLY = 1u << 0 /* no address of this machine or of a private network */
};

/* What is asked for; all but `url` may be zero. */
typedef struct mortise_http_request {
    uint32_t size;
    uint32_t flags;
    const char *method; /* NULL: GET, or POST with a body */
    const char *url;    /* http or https */
    const mortise_http_header *headers;
    size_t header_count;
    const void *body; /* or NULL */
    size_t body_length;
    /* For all of it; 0: 30 seconds; since 1.2 below 0: no limit, for a stream that stays open (a
     * host before that takes 30 seconds).  In send() the call's own limit counts too. */
    int64_t timeout_ms;
    size_t max_bytes; /* of the answer, also by pieces; 0: 10 MiB; SIZE_MAX: no limit */
    /* Of GET, HEAD and POST; 0: a redirect is an answer like any other.  The headers go along, but
     * for Authorization and Cookie to another host. */
    uint32_t max_redirects;
    uint32_t reserved;
    /* Gets the body piece by piece, in the place of mortise_http_response.body; false stops the
     * request (MORTISE_CANCELLED).  On the calling thread.  May be NULL. */
    bool (*received)(void *data, const void *bytes, size_t length);
    void *received_data;
    /* Since 1.2: gets the head of the answer as soon as it is here, before the first byte of the
     * body, and once: of the last answer after redirects.  `data` is received_data; the headers are
     * borrowed until it returns.  On the calling thread.  May be NULL. */
    void (*answered)(void *data, uint32_t status, const mortise_http_header *headers,
                     size_t header_count);
    /* Since 1.2: a descriptor of the caller's, such as an eventfd or the end of a pipe.  As soon as
     * it can be read, or its other end is closed, the request ends (MORTISE_CANCELLED); nothing is
     * read from it.  It stays open until the function returns.  0 and below: none. */
    int stop_fd;
    uint32_t reserved2;
} mortise_http_request;

/* The answer; all but `size` is set.  After send() it lives as long as the call; after fetch()
 * until release(). */
typedef struct mortise_http_response {
    uint32_t size;   /* set by the caller */
    uint32_t status; /* 200, … */
    const mortise_http_header *headers;
    size_t header_count;
    const char *content_type; /* or NULL */
    const char *url;          /* of the last request, after redirects */
    const char *body;         /* with a NUL behind it */
    size_t body_length;
    const char *problem; /* since 1.2: why it failed, for people; NULL after MORTISE_OK */
    void *memory;        /* since 1.2: the host's own, for release() */
} mortise_http_response;

/* The service MORTISE_HTTP_ID. */
typedef struct mortise_http {
    uint32_t size;
    uint32_t reserved;

    /* MORTISE_OK: there was an answer, whatever its status.  Ends early when the call is
     * cancelled (MORTISE_CANCELLED).  MORTISE_DENIED: only addresses that are not public. */
    mortise_status (*send)(mortise_call *call, const mortise_http_request *request,
                           mortise_http_response *response);

    /* Since 1.2: the same without a call, also while tool_definition() and close() run.  Limits and
     * statuses are those of send(); what ends it early is its own time limit, stop_fd and
     * received().  It waits for the network, so it has a thread of the plugin's own where that may
     * take long.  What it returns must be given to release(), also after it has failed; the
     * response must have room for `memory`.  It must have returned before close() does.
     * [thread-safe] */
    mortise_status (*fetch)(const mortise_host *host, const mortise_http_request *request,
                            mortise_http_response *response);
    /* Since 1.2: frees what fetch() put into the response, and sets all but `size` to zero; one
     * that is zero is fine.  [thread-safe] */
    void (*release)(const mortise_host *host, mortise_http_response *response);
} mortise_http;

/* ---- how to get them; NULL: not here ---------------------------------------------------------- */

/* Any service by its id. */
static inline const void *mortise_service(mortise_call *call, const char *id)
{
    return MORTISE_HAS(call->ops, mortise_call_ops, service) && call->ops->service
               ? call->ops->service(call, id)
               : NULL;
}

/* Files with versions. */
static inline const mortise_artifacts *mortise_artifacts_of(mortise_call *call)
{
    return (const mortise_artifacts *)mortise_service(call, MORTISE_ARTIFACTS_ID);
}

/* Texts to be found again. */
static inline const mortise_memory *mortise_memory_of(mortise_call *call)
{
    return (const mortise_memory *)mortise_service(call, MORTISE_MEMORY_ID);
}

/* Values by key. */
static inline const mortise_state_service *mortise_state_of(mortise_call *call)
{
    return (const mortise_state_service *)mortise_service(call, MORTISE_STATE_ID);
}

/* Requests over the network. */
static inline const mortise_http *mortise_http_of(mortise_call *call)
{
    return (const mortise_http *)mortise_service(call, MORTISE_HTTP_ID);
}

/* The same for fetch(), had from the host in open() or later; NULL too before 1.2. */
static inline const mortise_http *mortise_http_outside(const mortise_host *host)
{
    const mortise_http *http = (const mortise_http *)host->service(host, MORTISE_HTTP_ID);
    return http && MORTISE_HAS(http, mortise_http, release) && http->fetch ? http : NULL;
}

/* What the configuration grants; had from the host, in open() or later. */
static inline const mortise_secrets *mortise_secrets_of(const mortise_host *host)
{
    return (const mortise_secrets *)host->service(host, MORTISE_SECRETS_ID);
}

#ifdef __cplusplus
}
#endif

#endif
