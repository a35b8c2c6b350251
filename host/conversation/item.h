/*
 * item - one entry of a conversation: a message, a tool call, its result, or reasoning.
 *
 * Items are immutable and reference counted once they are made; many histories and
 * requests may hold one.  The only thing that changes is the cache of serialised bytes,
 * which belongs to the thread that runs the turn loop.
 */
#ifndef CONVERSATION_ITEM_H
#define CONVERSATION_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"
#include "base/text.h"

enum item_kind { ITEM_MESSAGE, ITEM_CALL, ITEM_OUTPUT, ITEM_REASONING };
enum item_role { ROLE_USER, ROLE_ASSISTANT, ROLE_SYSTEM };
enum part_kind { PART_INPUT_TEXT, PART_OUTPUT_TEXT, PART_REFUSAL };

/* The wire formats that keep serialised bytes of an item. */
enum wire_format { WIRE_OPENAI_CHAT, WIRE_OPENAI_RESPONSES, WIRE_ANTHROPIC, WIRE_GEMINI, WIRE_COUNT };

struct bytes {
    char *data; /* malloc'ed and NUL-terminated, or NULL */
    size_t length;
};

struct part {
    enum part_kind kind;
    struct bytes text;
};

/* A file that goes with a tool's result: bytes, or where they are. */
struct attachment {
    char *mime_type;
    char *name; /* or NULL */
    char *uri;  /* or NULL */
    struct bytes data;
};
void attachment_release(struct attachment *attachment);

/*
 * What the provider sent for one response, kept to the letter beside the neutral items.
 * It is sent back instead of them to the same provider and model, as long as all
 * `item_count` items of the response stand together, untouched.  Reference counted.
 */
struct origin {
    int refs;
    char *provider;
    char *model;
    size_t item_count;
    struct bytes verbatim; /* JSON in the provider's own form; data NULL: none */
    /* Whether it was found to go with the items; of the thread that runs the turn loop. */
    enum { ORIGIN_UNKNOWN, ORIGIN_WHOLE, ORIGIN_TORN } state;
};

struct item {
    int refs;
    enum item_kind kind;
    struct origin *origin; /* the response that it came from, or NULL */

    /* ITEM_MESSAGE */
    enum item_role role;
    struct part *parts;
    size_t part_count;

    /* ITEM_CALL and ITEM_OUTPUT */
    char *call_id;
    /* ITEM_CALL */
    char *name;
    struct bytes arguments; /* as the model wrote them, perhaps unreadable */
    bool arguments_valid;   /* a JSON object, after the repairs of tool/arguments.h; then
                             * `arguments` is the repaired text */

    /* ITEM_OUTPUT: `text`, is_error, attachments; ITEM_REASONING: `text` */
    struct bytes text;
    bool is_error;
    struct attachment *attachments;
    size_t attachment_count;

    /* Serialised once per wire format (D17); NULL until a request needed it. */
    struct bytes wire[WIRE_COUNT];
};

/* All constructors copy what they get and return NULL when there is no memory.  Text is
 * made valid UTF-8 here (D23). */
struct item *item_message(enum item_role role, enum part_kind kind, const char *text, size_t length);
struct item *item_call(const char *call_id, const char *name, const char *arguments, size_t length,
                       bool valid);
struct item *item_output(const char *call_id, const char *text, size_t length, bool is_error);
struct item *item_reasoning(const char *text, size_t length);
/* Adds a copy of the attachment; only while the item is being made. */
bool item_attach(struct item *item, const struct attachment *attachment);
/* Moves a malloc'ed list of attachments into an item that has none; NULL is fine. */
void item_take_attachments(struct item *item, struct attachment **list, size_t *count);

struct item *item_ref(struct item *item);
void item_unref(struct item *item); /* NULL is fine */

struct origin *origin_new(const char *provider, const char *model);
struct origin *origin_ref(struct origin *origin);
void origin_unref(struct origin *origin); /* NULL is fine */

/* All text parts of a message, joined, appended to `out`. */
void item_append_text(const struct item *item, struct text *out);

/* The neutral JSON of plugin.h, and back.  item_from_json() refuses what it does not know
 * with a message that names the member ("item 'role' must be …"). */
void item_write_json(const struct item *item, struct text *out);
struct item *item_from_json(const char *json, size_t length, struct error *error);
struct item *item_from_value(json_t *object, struct error *error);

const char *item_role_name(enum item_role role);

#endif
