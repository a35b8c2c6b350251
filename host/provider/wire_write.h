/*
 * wire_write - what the writers of all wire formats share: the serialised bytes of items and
 * tools, made once (D17), and ids and names as providers accept them (D14).
 *
 * A request is glue around kept bytes.  What depends on the provider (ids, roles, which
 * fields there are) is glue, so the bytes of an item serve every provider of a format.
 * One thread: the one that runs the turn loop.
 */
#ifndef PROVIDER_WIRE_WRITE_H
#define PROVIDER_WIRE_WRITE_H

#include "base/text.h"
#include "provider/provider.h"

struct part_load;
struct wire_ids;

/* One request that is being written; `body` fails when there is no memory. */
struct wire_writer {
    struct text *body;
    enum wire_format format;
    const struct profile *profile;
    const char *model;
    const struct request *request;
    struct part_load *load; /* wire_parts.h; all zero at the beginning */
    struct wire_ids *ids;   /* wire_id.h; the same */
};

/* Appends the item's bytes in the writer's format, made by `make` at the first need. */
void wire_put_item(const struct wire_writer *writer, struct item *item,
                   void (*make)(const struct item *item, struct text *out));
/* The same for the tools, as ,"tools":[…]; nothing without tools.  `make` gets each with its
 * schema as the server takes it. */
void wire_put_tools(const struct wire_writer *writer,
                    void (*make)(const struct tool_definition *tool, struct text *out));

/* The same between other words; the comma between two tools comes by itself. */
void wire_put_tools_within(const struct wire_writer *writer, const char *open,
                           void (*make)(const struct tool_definition *tool, struct text *out),
                           const char *close);

/* In a locked session: a part of the prefix ends here, or `back` bytes before, where what
 * follows may be changed by later items.  An item that is not locked says nothing. */
void wire_note_part(const struct wire_writer *writer, enum prefix_part part);
void wire_note_item(const struct wire_writer *writer, size_t index, size_t back);
/* Keeps or compares the prefix; false with *error.  True when nothing is locked. */
bool wire_take_prefix(const struct wire_writer *writer, struct error *error);

/* A place in a body behind which a later request can go on. */
struct wire_place {
    size_t next;   /* item */
    int state;     /* the writer's own */
    size_t offset;
    size_t resumed; /* how many bytes were not written anew */
};
/* Puts in how the last request began, if this one begins so too; false: nothing was put in. */
bool wire_resume(const struct wire_writer *writer, struct wire_place *place);
/* Keeps the beginning for the next request. */
void wire_keep_start(const struct wire_writer *writer, const struct wire_place *place);

/* How many items from `at` on are a response of this provider and model that is whole and can go
 * back to the letter (D15); 0 = none. */
size_t wire_verbatim_count(const struct wire_writer *writer, size_t at, size_t run_end);

/* "name":…,"description":…,"SCHEMA_KEY":…, as most formats have them. */
void wire_put_tool(struct text *out, const struct tool_definition *tool, const char *schema_key);

/* The request's settings without those that the provider has no place for; all unset when it has
 * none. */
struct request_config wire_config(const struct wire_writer *writer);

/* A string with quotes. */
void wire_put_string(struct text *out, const char *string);
/* ,"KEY":VALUE when the value is set. */
void wire_put_integer(struct text *out, const char *key, int64_t value);
void wire_put_real(struct text *out, const char *key, double value);
void wire_put_strings(struct text *out, const char *key, const char *const *strings);

/* The id of a call, quoted, as this provider accepts it: the same for the call and its result,
 * unchanged for the provider that gave it, and no other call's of the request (wire_id.h). */
void wire_put_call_id(const struct wire_writer *writer, const struct item *call);
/* Quoted, 1 to 64 of A-Z a-z 0-9 _ -: a model may have invented the name, with any characters in
 * it.  Two names stay two. */
void wire_put_tool_name(struct text *out, const char *name);
/* The text when it is a JSON object, else {}.  Escapes of lone surrogates become U+FFFD. */
void wire_put_object(struct text *out, const char *data, size_t length);
/* The same as a JSON string. */
void wire_put_object_string(struct text *out, const char *data, size_t length);
/* The text of a result, where the format has no place for "this went wrong" (D7). */
void wire_put_output_text(const struct item *item, struct text *out);

/* Nothing but white space: some servers refuse such texts. */
bool wire_is_blank(const char *data, size_t length);
/* Where the run of the assistant's items that begins at `from` ends. */
size_t wire_run_end(const struct request *request, size_t from);
/* The index of a call's result; `from` is where it should stand.  item_count: none, which
 * history_check() excludes. */
size_t wire_find_output(const struct request *request, const struct item *call, size_t from);

#endif
