/*
 * fuzz_remote - messages of another process, made of an input, for fuzz_remote.c.
 *
 * An input is a list of messages: a type, and fields.  Most of them are well-formed in themselves, so
 * that the readers behind the framing are reached; any byte may also stand for itself.
 */
#ifndef FUZZ_REMOTE_H
#define FUZZ_REMOTE_H

#include <stdint.h>
#include <string.h>

#include "remote/parcel.h"

struct fuzz_input {
    const uint8_t *data;
    size_t left;
    uint64_t number; /* of the call or the hook that is asked */
};

static inline uint8_t fuzz_byte(struct fuzz_input *input)
{
    if (!input->left)
        return 0;
    input->left--;
    return *input->data++;
}

static inline uint64_t fuzz_word(struct fuzz_input *input, size_t size)
{
    uint64_t word = 0;
    size_t length = size < input->left ? size : input->left;
    memcpy(&word, input->data, length);
    input->data += length;
    input->left -= length;
    return word;
}

static inline void fuzz_bytes(struct fuzz_input *input, struct text *out, bool framed)
{
    size_t length = fuzz_byte(input);
    length = length < input->left ? length : input->left;
    if (framed)
        parcel_put_bytes(out, input->data, length);
    else
        text_append(out, input->data, length);
    input->data += length;
    input->left -= length;
}

/* False: that was the last field. */
static inline bool fuzz_field(struct fuzz_input *input, struct text *out)
{
    switch (input->left ? fuzz_byte(input) % 10 : 9) {
    case 0:
        parcel_put_u32(out, fuzz_byte(input));
        return true;
    case 1:
        parcel_put_u32(out, (uint32_t)fuzz_word(input, 4));
        return true;
    case 2:
        parcel_put_u64(out, fuzz_byte(input));
        return true;
    case 3:
        parcel_put_u64(out, fuzz_word(input, 8));
        return true;
    case 4:
    case 5:
        fuzz_bytes(input, out, true);
        return true;
    case 6:
        parcel_put_string(out, NULL);
        return true;
    case 7:
        fuzz_bytes(input, out, false);
        return true;
    case 8:
        parcel_put_u64(out, input->number);
        return true;
    default:
        return false;
    }
}

/* The next message, with its length in front.  False: there is none. */
static inline bool fuzz_message(struct fuzz_input *input, struct text *out)
{
    if (!input->left)
        return false;
    parcel_begin(out, fuzz_byte(input) % 128);
    while (fuzz_field(input, out))
        ;
    uint32_t length = (uint32_t)(out->length - 2 * sizeof(uint32_t));
    uint8_t lie = fuzz_byte(input);
    if (lie >= 250)
        length = (uint32_t)fuzz_word(input, 4);
    memcpy(out->data, &length, sizeof(length));
    return true;
}

#endif
