/*
 * provider - a language model behind one of several doors.
 *
 * A `client` is a provider with its model and settings, ready to be asked.  The turn loop
 * calls client_complete(); that makes attempts (client.c) through the client's ops.  For
 * servers the ops are http.c with a `wire` (how requests are written and responses read:
 * openai_chat.c, openai_responses.c, anthropic.c, gemini.c); script.c and offline.c answer by
 * themselves.
 *
 * A client belongs to one thread at a time.
 */
#ifndef PROVIDER_PROVIDER_H
#define PROVIDER_PROVIDER_H

#include <math.h>

#include "base/cancel.h"
#include "conversation/item.h"
#include "provider/network.h"
#include "provider/prefix.h"
#include "provider/stream.h"

/* ---- what is asked ---- */

struct tool_definition {
    const char *name;
    const char *description;
    const char *schema; /* JSON object text */
};

/* The tools of a request, sorted by name, with their bytes per wire format made once. */
struct toolset {
    struct tool_definition *items; /* borrowed strings: they live as long as the set */
    size_t count;
    struct bytes wire[WIRE_COUNT];
    bool is_reduced[WIRE_COUNT]; /* how their schemas are in these bytes */
};
void toolset_release(struct toolset *tools);

/* Unset values (below zero, NAN, NULL) do not reach the wire. */
struct request_config {
    int64_t max_tokens;
    double temperature;
    double top_p;
    int64_t top_k;
    const char *const *stop; /* NULL-terminated, or NULL */
    const char *reasoning;   /* "low", "medium", "high", or NULL */
};
#define REQUEST_CONFIG_INIT {-1, NAN, NAN, -1, NULL, NULL}

/*
 * How the last request of a conversation began: its bytes up to an item behind which nothing
 * before can change any more.  A writer goes on from there, so that a turn costs work for what
 * is new and a copy for what is old.  All zero is empty.  Whoever changes anything but the end
 * of the items, the settings or the lock empties it.
 */
struct request_start {
    struct text bytes;
    size_t next; /* the first item that is not in it */
    int state;   /* the writer's own */
    bool locked; /* it is of a locked session */
};
void request_start_reset(struct request_start *start);

/* Which files and images of results a provider's model takes beside text (wire_parts.h). */
enum {
    PART_TAKES_IMAGE    = 1u << 0, /* JPEG, PNG, GIF, WebP */
    PART_TAKES_IMAGE_AT = 1u << 1, /* an image that the provider fetches from the web */
    PART_TAKES_PDF      = 1u << 2,
    PART_TAKES_PDF_AT   = 1u << 3
};

/* And how much of it; 0: any. */
struct part_rules {
    unsigned takes;
    bool no_gif;
    bool errors_are_text; /* nothing else goes with a result that is an error */
    size_t image_bytes;
    uint32_t image_side; /* pixels */
    /* Where more than `many_images` are sent, none may have a side above `many_side`. */
    unsigned many_images;
    uint32_t many_side;
    unsigned images;    /* in one request */
    size_t total_bytes; /* of all parts in one request */
};

struct request {
    const char *system; /* or NULL */
    struct item *const *items;
    size_t item_count;
    struct toolset *tools; /* or NULL */
    const struct request_config *config;
    bool paired; /* it is known that history_check() of the items succeeds */
    /* Of a locked session, where the first `locked_items` stay as they are; or NULL. */
    struct request_prefix *prefix;
    size_t locked_items;
    struct request_start *start; /* or NULL: everything is written anew */
    const struct part_rules *parts; /* NULL: none is taken */
};

/* ---- who is asked ---- */

struct client;
struct wire_tape;
struct client_facts;

struct client_ops {
    /* One attempt: emits events through `stream` and ends with stream_finish().
     * `deadline_ms` is on clock_ms(); -1 = none. */
    void (*attempt)(struct client *client, const struct request *request, struct stream *stream,
                    struct cancel *cancel, int64_t deadline_ms);
    void (*free)(struct client *client);
    /* Or NULL: nothing is written before an attempt. */
    void (*prepare)(struct client *client, const struct request *request);
    /* Or NULL: it asks no server, and `tape` is told nothing. */
    void (*facts)(const struct client *client, struct client_facts *facts);
};

struct client {
    const struct client_ops *ops;
    char *provider; /* "anthropic" */
    char *model;
    unsigned max_attempts;
    const char *const *unsupported; /* settings that are left out; see struct wire */
    struct part_rules parts;
    const struct wire_tape *tape; /* told of what goes over the wire (tape.h), or NULL */
};

/* Appends which parts of item `index`, behind the items before it, the model will not get:
 * "1 part not sent: video/mp4, 3.1 MB, 'clip.mp4'"; nothing when it gets all. */
void client_unsent(const struct client *client, struct item *const *items, size_t index,
                   struct text *out);

/* One line for each setting that is given but will be left out (W100, W101): "'top_k' is not
 * supported by openai and will be ignored". */
void client_check(const struct client *client, const struct request_config *config,
                  void (*warn)(void *data, const char *line), void *data);

/* Attempts until one succeeds, an error is final, something was already shown, or the time
 * is up (D11).  False: stream->error tells why. */
bool client_complete(struct client *client, const struct request *request, struct stream *stream,
                     struct cancel *cancel, int64_t deadline_ms);
/* Writes a request of a locked session only to learn request->prefix->sha256 before it is
 * sent.  What is wrong with it is told by client_complete(). */
void client_prepare(struct client *client, const struct request *request);
void client_free(struct client *client); /* NULL is fine */

/* ---- how servers are spoken to ---- */

struct wire_decoder;
struct wire_models;
struct profile;
struct event_stream_message;

struct wire {
    const char *name; /* "openai-chat", as the configuration calls it */
    enum wire_format format;
    const char *path;               /* "/chat/completions" behind the base URL; "{model}" is it */
    const char *const *headers;     /* fixed ones, NULL-terminated */
    const char *key_header;         /* "Authorization: Bearer " or "x-api-key: " */
    const char *const *unsupported; /* settings that it has no place for, NULL-terminated, or NULL */
    bool (*takes_name)(const char *name); /* NULL: every tool can be called; one that cannot is
                                           * left out, with a warning */
    bool reduced_schemas;           /* of tools: in the few words of schema_reduce.h */
    struct part_rules parts;        /* its limits; what is taken depends on provider and model */
    const struct wire_models *models; /* how a server is asked which there are (models.h) */
    /* The request's body. */
    bool (*write)(struct text *body, const struct profile *profile, const char *model,
                  const struct request *request, struct error *error);
    /* Reads one response.  `event` gets the data of one event, `whole` a body that is one
     * JSON document; both tell `stream` what they understood. */
    struct wire_decoder *(*decoder_new)(struct stream *stream); /* NULL: no memory */
    void (*decoder_event)(struct wire_decoder *decoder, const char *data, size_t length);
    void (*decoder_whole)(struct wire_decoder *decoder, const char *data, size_t length);
    /* Before stream_finish(): what only the end of the bytes makes certain. */
    void (*decoder_end)(struct wire_decoder *decoder);
    void (*decoder_free)(struct wire_decoder *decoder);
    /* Where events come as messages of an event_stream.h, or NULL: appends the data of the event
     * that is in one, or nothing.  One that tells of an error fails the stream. */
    void (*open_message)(const struct event_stream_message *message, struct stream *stream,
                         struct text *event);
    /* Adds to an error that the server told what can be done about it; or NULL. */
    void (*advise)(struct error *error);
};

extern const struct wire wire_openai_chat;
extern const struct wire wire_anthropic;
extern const struct wire wire_bedrock;
extern const struct wire wire_openai_responses;
extern const struct wire wire_gemini;

/* ---- which there are ---- */

/* A header, or a part of a query. */
struct profile_pair {
    const char *name;   /* NULL ends a list */
    const char *value;  /* or NULL: */
    const json_t *from; /* {"env": …}, {"file": …} or {"command": …} of the user's file */
};

/*
 * What is to be known of a server; all zero but for name and wire is the format as it stands.
 * Those that are built in are a table (profile_table.c), a user's come from the configuration
 * (profiles.h).
 */
struct profile {
    const char *name;          /* "anthropic" */
    const struct wire *wire;   /* NULL: script, offline */
    const char *like;          /* a user's: the one that it started from; NULL: built in, or
                                * started from a format */
    bool is_own;               /* a user's, or one that is built in and a user changed */
    const char *base_url;      /* default, "{region}" is Amazon's; NULL: must be named */
    const char *base_url_env;  /* "ANTHROPIC_BASE_URL", or NULL */
    const char *base_url_suffix; /* what the variable leaves out: "/v1", or NULL */
    const char *key_env;       /* NULL: needs no key */
    const char *key_env_too;   /* looked at when that is not set, or NULL */
    const char *key_from;      /* "file", "command": the configuration says which; or NULL */
    bool key_is_optional;      /* it is sent if it is there */
    const char *aws_service;   /* without a key requests are signed for it (aws_signer.h), or NULL */
    const char *default_model; /* NULL: must be named */
    const char *summary;       /* one line for `mortise providers` */
    unsigned takes;            /* PART_TAKES_… by models that take images at all … */
    const char *const *seeing; /* … which are these, as far as is known: patterns, the first that
                                * fits decides, '!' before one says no; NULL-terminated, or NULL */
    unsigned takes_if_told;    /* beside `takes`, of IMAGES_ON: not every server of the kind does */
    bool is_tried;             /* where no model is named and no key is set (local_server.h) */

    /* ---- how it is asked ---- */
    const char *path;           /* NULL: the wire's */
    const char *key_header;     /* "api-key: "; NULL: the wire's */
    const struct profile_pair *query;   /* behind the path, or NULL */
    const struct profile_pair *headers; /* beside the wire's, or NULL */

    /* ---- what it does its own way ---- */
    const char *const *unsupported;  /* NULL: the wire's */
    const char *max_tokens_field;    /* chat; NULL: "max_tokens" */
    const char *reasoning_field;     /* chat: reasoning goes back in it; NULL: it does not */
    bool strict_ids;                 /* calls have ids of nine letters and digits */
    bool takes_cache_key;            /* chat: "prompt_cache_key" */
    bool no_stream_options;          /* chat: it does not know them, so it tells no usage */
    bool reduced_schemas;            /* of tools, also where the format has them whole */
};

/* Whether images and PDFs are sent: as far as is known of the model, or as the user says. */
enum images_choice { IMAGES_AUTO, IMAGES_ON, IMAGES_OFF };
struct part_rules profile_part_rules(const struct profile *profile, const char *model,
                                     enum images_choice images);

/* The settings that it has no place for: NULL-terminated, or NULL. */
const char *const *profile_unsupported(const struct profile *profile);

/* Of those that are built in. */
const struct profile *profile_find(const char *name, size_t length);
const struct profile *profile_at(size_t index); /* NULL beyond the last */
/* The key in the environment, or NULL; *from (or NULL) becomes the name of its variable. */
const char *profile_key(const struct profile *profile, const char **from);
/* What is sent: `given`, else the one in the environment, once it is known to be one and no place
 * that shows it will.  NULL where there is none; *from as above.  False with *error. */
bool profile_take_key(const struct profile *profile, const char *given, const char **key,
                      const char **from, struct error *error);
/* Where `wire->path` is put behind: from `given`, else the profile's variable, else its default.
 * Without a slash at its end; false (kind config) names what is wrong with which. */
bool profile_base_url(const struct profile *profile, const char *given, struct text *out,
                      struct error *error);

struct profiles;

struct client_settings {
    const struct profiles *profiles; /* outlive the client; NULL: those that are built in */
    const char *model;         /* "PROVIDER/MODEL" */
    const char *base_url;      /* or NULL: from the profile and its variable */
    const char *key;           /* or NULL: from the profile's variable */
    const char *key_from;      /* of a `key`: "the file '/path'", for messages */
    int64_t connect_timeout_ms;
    int64_t first_byte_timeout_ms;
    int64_t idle_timeout_ms;
    int64_t response_limit;    /* bytes of one response; 0 = none */
    struct network_settings network;
    unsigned retries;          /* attempts after the first */
    enum images_choice images;
};

/* NULL with *error, which says what to set where. */
struct client *client_new(const struct client_settings *settings, struct error *error);

#endif
