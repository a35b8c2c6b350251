/*
 * item_view - items as hooks and people see them: the neutral JSON of plugin.h, and beside it
 * what there is to know of a result's attachments, without their bytes.
 *
 *     "parts":[{"index":0,"mime_type":"image/png","name":"plot.png","bytes":12345},
 *              {"index":1,"mime_type":"application/pdf","uri":"https://…"}]
 */
#ifndef CONVERSATION_ITEM_VIEW_H
#define CONVERSATION_ITEM_VIEW_H

#include "conversation/item.h"

/* "image/png, 12.3 kB, 'plot.png'". */
void attachment_describe(const struct attachment *attachment, struct text *out);

/* Without "parts" where there are none. */
void item_write_view(const struct item *item, struct text *out);
/* The list alone, "[]" when there are none. */
void attachments_write_view(const struct attachment *list, size_t count, struct text *out);

/* The item that takes the place of `old`.  It has those attachments of `old` whose index is in
 * its "parts", each once, and all of them when it has no such member.  NULL as for item_from_json(). */
struct item *item_from_view(const char *json, size_t length, const struct item *old,
                            struct error *error);

#endif
