#include "kind.h"

#include <string.h>

#define LOOK_BYTES 8192

struct magic {
    size_t at, length;
    const char *bytes;
    struct kind kind;
};

static const struct magic magics[] = {
    {0, 8, "\x89PNG\r\n\x1a\n", {"image/png", true, NULL}},
    {0, 3, "\xff\xd8\xff", {"image/jpeg", true, NULL}},
    {0, 6, "GIF87a", {"image/gif", true, NULL}},
    {0, 6, "GIF89a", {"image/gif", true, NULL}},
    {8, 4, "WEBP", {"image/webp", true, NULL}},
    {0, 5, "%PDF-", {"application/pdf", true, NULL}},
    {0,
     4,
     "\x7f"
     "ELF",
     {"application/x-elf", false, NULL}},
    {0, 2, "\x1f\x8b", {"application/gzip", false, "it must be unpacked first"}},
    {0, 3, "BZh", {"application/x-bzip2", false, "it must be unpacked first"}},
    {0,
     6,
     "\xfd"
     "7zXZ",
     {"application/x-xz", false, "it must be unpacked first"}},
    {0, 4, "\x28\xb5\x2f\xfd", {"application/zstd", false, "it must be unpacked first"}},
    {0, 4, "PK\x03\x04", {"application/zip", false, "it must be unpacked first"}},
    {0, 15, "SQLite format 3", {"application/vnd.sqlite3", false, "a database tool can read it"}},
    {257, 5, "ustar", {"application/x-tar", false, "it must be unpacked first"}},
    {4, 4, "ftyp", {"video/mp4", false, NULL}},
    {0, 4, "OggS", {"audio/ogg", false, NULL}},
    {0, 4, "fLaC", {"audio/flac", false, NULL}},
    {0, 3, "ID3", {"audio/mpeg", false, NULL}},
    {8, 4, "WAVE", {"audio/wav", false, NULL}},
    {0, 4, "wOF2", {"font/woff2", false, NULL}},
    {0, 4, "\0asm", {"application/wasm", false, NULL}},
    {0, 2, "\xff\xfe", {"text/plain; charset=utf-16le", false, "convert it to UTF-8 first"}},
    {0, 2, "\xfe\xff", {"text/plain; charset=utf-16be", false, "convert it to UTF-8 first"}},
};

bool kind_is_binary(const char *data, size_t length)
{
    return memchr(data, 0, length < LOOK_BYTES ? length : LOOK_BYTES) != NULL;
}

struct kind kind_of(const char *data, size_t length)
{
    bool is_binary = kind_is_binary(data, length);
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
        const struct magic *magic = &magics[i];
        if (length < magic->at + magic->length ||
            memcmp(data + magic->at, magic->bytes, magic->length) != 0)
            continue;
        bool is_riff = magic->at != 8 || memcmp(data, "RIFF", 4) == 0;
        if (is_riff && (is_binary || magic->kind.is_shown)) /* text may begin with "BZh", too */
            return magic->kind;
    }
    return (struct kind){is_binary ? "application/octet-stream" : NULL, false, NULL};
}
