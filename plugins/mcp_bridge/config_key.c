#include "config_key.h"

#include <string.h>
#include <sys/types.h>

#include <sha2.h>

/* With a NUL behind each text, and one more behind each list, no two are read alike. */
static void add(SHA2_CTX *sum, const char *text)
{
    SHA256Update(sum, (const uint8_t *)(text ? text : ""), text ? strlen(text) + 1 : 1);
}

static void add_list(SHA2_CTX *sum, char *const *list)
{
    for (; list && *list; list++)
        add(sum, *list);
    add(sum, NULL);
}

static void add_number(SHA2_CTX *sum, int64_t number)
{
    SHA256Update(sum, (const uint8_t *)&number, sizeof(number));
}

void config_key(struct server_config *config)
{
    static const char digits[] = "0123456789abcdef";
    const struct limits *limits = &config->limits;
    const int64_t numbers[] = {config->is_http,     config->era,
                               limits->connect_ms,  limits->timeout_ms,
                               limits->max_ms,      limits->probe_ms,
                               limits->close_ms,    limits->backoff_ms,
                               limits->debounce_ms, (int64_t)limits->message_bytes};
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA2_CTX sum;
    SHA256Init(&sum);
    add(&sum, config->name);
    add_list(&sum, config->command);
    add_list(&sum, config->environment);
    add(&sum, config->folder);
    add(&sum, config->url);
    for (size_t i = 0; i < config->header_count; i++) {
        add(&sum, config->headers[i].name);
        add(&sum, config->headers[i].value);
    }
    add(&sum, NULL);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        add_number(&sum, numbers[i]);
    SHA256Final(digest, &sum);
    for (size_t i = 0; i < sizeof(config->key) / 2; i++) {
        config->key[2 * i] = digits[digest[i] >> 4];
        config->key[2 * i + 1] = digits[digest[i] & 15];
    }
    config->key[sizeof(config->key) - 1] = '\0';
}
