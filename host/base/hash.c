#include "base/hash.h"

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct sip {
    uint64_t v0, v1, v2, v3;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t process_key[2];

/* A key that can be guessed would let a client flood the tables, and getrandom() for 16
 * bytes cannot fail on any Linux that this program runs on: so there is no way around it. */
static void draw_key(void)
{
    while (getrandom(process_key, sizeof(process_key), 0) != (ssize_t)sizeof(process_key))
        if (errno != EINTR)
            abort();
}

static inline uint64_t rotate(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

static inline void sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v2 = rotate(s->v2, 32);
}

static inline void sip_word(struct sip *s, uint64_t word)
{
    s->v3 ^= word;
    sip_round(s);
    s->v0 ^= word;
}

/* Up to 8 bytes. */
static inline uint64_t load(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;
    if (count)
        memcpy(&word, bytes, count);
    return le64toh(word);
}

static uint64_t siphash13(const uint64_t key[2], const unsigned char *bytes, size_t length)
{
    struct sip s = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                    key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
    size_t whole = length & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8)
        sip_word(&s, load(bytes + i, 8));
    sip_word(&s, load(bytes + whole, length - whole) | (uint64_t)length << 56);

    s.v2 ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

uint64_t hash_bytes(const void *data, size_t length)
{
    pthread_once(&once, draw_key);
    return siphash13(process_key, data ? data : "", length);
}
