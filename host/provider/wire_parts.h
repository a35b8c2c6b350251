/*
 * wire_parts - the files and images of results on the wire (F70-F75).
 *
 * A provider that gets a part which it does not take refuses the whole request, and every later
 * one of the session: so what a request may carry is decided here, by the rules of the provider
 * and by what the bytes really are, and the rest becomes a line in the result's text,
 *
 *     [1 part not sent: video/mp4, 3.1 MB, 'clip.mp4']
 *
 * What is sent depends on the rules, the part and the parts of earlier items, and on nothing that
 * comes later: one request begins like the one before (D17).
 */
#ifndef PROVIDER_WIRE_PARTS_H
#define PROVIDER_WIRE_PARTS_H

#include "provider/wire_write.h"

enum part_form {
    PART_UNSENT,
    PART_IMAGE_BYTES,
    PART_IMAGE_AT, /* its URI */
    PART_PDF_BYTES,
    PART_PDF_AT,
    PART_TEXT /* valid, and short enough to be read */
};

struct part_choice {
    enum part_form form;
    const char *mime_type; /* of PART_IMAGE_BYTES: what it really is */
    const char *why;       /* PART_UNSENT: or NULL, when the model takes none of the kind */
};

/* What the items before the next one send. */
struct part_load {
    size_t next;
    size_t bytes;
    unsigned images;
    bool has_large; /* an image above rules->many_side */
};

/* Calls `put` for each part of item `index` that is sent, in their order. */
void wire_each_part(const struct wire_writer *writer, size_t index,
                    void (*put)(void *data, const struct attachment *part,
                                const struct part_choice *choice),
                    void *data);
/* Appends the line with those that are not; nothing when all are. */
void wire_put_unsent(const struct wire_writer *writer, size_t index, struct text *out);
/* The base64 of the bytes; and as a quoted "data:MIME_TYPE;base64,…". */
void wire_put_data(struct text *out, const struct attachment *part);
void wire_put_data_url(struct text *out, const char *mime_type, const struct attachment *part);
/* "[part 'notes.txt', text/plain]" and the text itself, behind what is there. */
void wire_put_text_part(struct text *out, const struct attachment *part);

#endif
