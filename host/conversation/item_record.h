/*
 * item_record - what a store keeps of an item beside its neutral JSON: attachments, and where
 * the item comes from.
 */
#ifndef CONVERSATION_ITEM_RECORD_H
#define CONVERSATION_ITEM_RECORD_H

#include "conversation/item.h"

/* [{"mime_type":…,"name":…,"uri":…,"data":"base64"}, …] */
void attachments_write_json(const struct item *item, struct text *out);
/* Adds them to an item that is being made. */
bool attachments_read_json(struct item *item, const char *json, size_t length,
                           struct error *error);

#endif
