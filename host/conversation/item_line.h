/*
 * item_line - all that is kept of an item, as members of one JSON object, and back.
 *
 *     "item":{…}           the neutral JSON of plugin.h
 *     "valid":false        of a call: the model's arguments could not be read
 *     "started":true       of a call without a result: its tool may have been entered
 *     "attachments":[…]    of a result: {"mime_type":…,"name":…,"uri":…,"data":"base64"}
 *     "response":{…}       what it came with: provider, model, items (their number), verbatim
 *     "same_response":true it came with the item before
 */
#ifndef CONVERSATION_ITEM_LINE_H
#define CONVERSATION_ITEM_LINE_H

#include "conversation/item.h"

/* Appends the object.  `before` is the item before it, or NULL. */
void item_line_write(const struct item *item, const struct item *before, bool is_started,
                     struct text *out);

/* What is known of the object before, when one is read.  All zero is none. */
struct item_lines {
    struct origin *origin;
};
void item_lines_release(struct item_lines *lines);

/* The caller's, with its origin; NULL with *error (kind bad_request), which names the member. */
struct item *item_line_read(struct item_lines *lines, const json_t *line, bool *is_started,
                            struct error *error);

#endif
