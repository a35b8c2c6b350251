/* frame - writes messages of Amazon event streams, with checksums of its own. */
#ifndef TEST_FRAME_H
#define TEST_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* CRC-32, bit by bit, as the polynomial says. */
uint32_t frame_checksum(const char *data, size_t length);
/* Headers and payload as they are; of the two lengths whatever is told. */
void frame_put_raw(struct text *out, const char *headers, size_t headers_length,
                   const char *payload, size_t payload_length, size_t told_headers,
                   size_t told_total);
/* An event as Bedrock frames it: the data in base64, and padding. */
void frame_put_event(struct text *out, const char *data);
void frame_put_exception(struct text *out, const char *name, const char *payload);

#endif
