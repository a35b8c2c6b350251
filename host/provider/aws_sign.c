#include "provider/aws_sign.h"

#include <stdint.h>
#include <string.h>

#include <sha2.h>

#define ALGORITHM  "AWS4-HMAC-SHA256"
#define DAY_LENGTH 8 /* of a date */

/* ---- HMAC (RFC 2104) ---- */

struct digest {
    uint8_t bytes[SHA256_DIGEST_LENGTH];
};

static struct digest hash(const void *data, size_t length)
{
    struct digest digest;
    SHA2_CTX context;
    SHA256Init(&context);
    SHA256Update(&context, data, length);
    SHA256Final(digest.bytes, &context);
    explicit_bzero(&context, sizeof(context));
    return digest;
}

/* The hash of the block of the key, each byte combined with `with`, and the message. */
static struct digest hash_behind(const uint8_t key[SHA256_BLOCK_LENGTH], uint8_t with,
                                 const void *message, size_t length)
{
    uint8_t block[SHA256_BLOCK_LENGTH];
    struct digest digest;
    SHA2_CTX context;
    for (size_t i = 0; i < sizeof(block); i++)
        block[i] = key[i] ^ with;
    SHA256Init(&context);
    SHA256Update(&context, block, sizeof(block));
    SHA256Update(&context, message, length);
    SHA256Final(digest.bytes, &context);
    explicit_bzero(&context, sizeof(context));
    explicit_bzero(block, sizeof(block));
    return digest;
}

static struct digest hmac(const void *key, size_t key_length, const void *message, size_t length)
{
    uint8_t block[SHA256_BLOCK_LENGTH] = {0};
    if (key_length > sizeof(block)) {
        struct digest hashed = hash(key, key_length);
        memcpy(block, hashed.bytes, sizeof(hashed.bytes));
    } else {
        memcpy(block, key, key_length);
    }
    struct digest inner = hash_behind(block, 0x36, message, length);
    struct digest digest = hash_behind(block, 0x5C, inner.bytes, sizeof(inner.bytes));
    explicit_bzero(block, sizeof(block));
    return digest;
}

static struct digest hmac_string(const struct digest *key, const char *message)
{
    return hmac(key->bytes, sizeof(key->bytes), message, strlen(message));
}

static void put_hex(struct text *out, const struct digest *digest)
{
    for (size_t i = 0; i < sizeof(digest->bytes); i++)
        text_printf(out, "%02x", digest->bytes[i]);
}

/* ---- what is signed ---- */

/* The path is encoded as it is sent, and here once more. */
static void put_path(struct text *out, const char *path)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    for (; *path; path++)
        if (strchr(plain, *path))
            text_putc(out, *path);
        else
            text_printf(out, "%%%02X", (unsigned)(unsigned char)*path);
}

/* In the order of their names. */
static void put_header_names(struct text *out, const struct aws_signing *signing)
{
    text_printf(out, "%shost;x-amz-date%s", signing->content_type ? "content-type;" : "",
                signing->session_token ? ";x-amz-security-token" : "");
}

static void put_request(struct text *out, const struct aws_signing *signing, const char *date)
{
    struct digest body = hash(signing->body, signing->body_length);
    text_printf(out, "%s\n", signing->method);
    put_path(out, signing->path);
    text_puts(out, "\n\n"); /* an empty query */
    if (signing->content_type)
        text_printf(out, "content-type:%s\n", signing->content_type);
    text_printf(out, "host:%s\nx-amz-date:%s\n", signing->host, date);
    if (signing->session_token)
        text_printf(out, "x-amz-security-token:%s\n", signing->session_token);
    text_putc(out, '\n');
    put_header_names(out, signing);
    text_putc(out, '\n');
    put_hex(out, &body);
}

static void put_scope(struct text *out, const struct aws_signing *signing, const char *date)
{
    text_printf(out, "%.*s/%s/%s/aws4_request", DAY_LENGTH, date, signing->region,
                signing->service);
}

static void put_string_to_sign(struct text *out, const struct aws_signing *signing,
                               const char *date)
{
    struct text request = TEXT_INIT;
    put_request(&request, signing, date);
    struct digest hashed = hash(text_cstr(&request), request.length);
    text_printf(out, ALGORITHM "\n%s\n", date);
    put_scope(out, signing, date);
    text_putc(out, '\n');
    put_hex(out, &hashed);
    if (request.failed)
        out->failed = true;
    text_wipe(&request); /* the session's token is in it */
}

/* ---- the signature ---- */

/* A key that is good for one day, region and service. */
static bool make_key(const struct aws_signing *signing, const char *date, struct digest *key)
{
    struct text secret = TEXT_INIT;
    char day[DAY_LENGTH + 1];
    memcpy(day, date, DAY_LENGTH);
    day[DAY_LENGTH] = '\0';
    if (!text_reserve(&secret, strlen("AWS4") + strlen(signing->secret_access_key)))
        return false; /* reserved at once: no copy of it is left behind */
    text_puts(&secret, "AWS4");
    text_puts(&secret, signing->secret_access_key);
    *key = hmac(secret.data, secret.length, day, DAY_LENGTH);
    *key = hmac_string(key, signing->region);
    *key = hmac_string(key, signing->service);
    *key = hmac_string(key, "aws4_request");
    text_wipe(&secret);
    return true;
}

static bool put_authorization(struct text *out, const struct aws_signing *signing, const char *date)
{
    struct text to_sign = TEXT_INIT;
    struct digest key;
    put_string_to_sign(&to_sign, signing, date);
    bool made = !to_sign.failed && make_key(signing, date, &key);
    if (made) {
        struct digest signature = hmac_string(&key, to_sign.data);
        text_printf(out, ALGORITHM " Credential=%s/", signing->access_key_id);
        put_scope(out, signing, date);
        text_puts(out, ", SignedHeaders=");
        put_header_names(out, signing);
        text_puts(out, ", Signature=");
        put_hex(out, &signature);
        explicit_bzero(&key, sizeof(key));
    }
    text_release(&to_sign);
    return made && !out->failed;
}

bool aws_sign(const struct aws_signing *signing, char date[AWS_DATE_SIZE],
              struct text *authorization)
{
    struct tm utc;
    return gmtime_r(&signing->time, &utc) &&
           strftime(date, AWS_DATE_SIZE, "%Y%m%dT%H%M%SZ", &utc) == AWS_DATE_SIZE - 1 &&
           put_authorization(authorization, signing, date);
}
