/* A host, a call and a hook that only remember what the SDK's library gave them. */
#ifndef SDK_FAKES_H
#define SDK_FAKES_H

#include <mortise/tool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake {
    char text[4096]; /* the last reply, failure, reason, refusal, log line or item */
    size_t length;
    uint32_t number; /* type of the reply, category of the failure, level of the line */
    int64_t wait_ms; /* of the failure */
    char code[64];
    bool is_error;
    bool no_memory;
    void *memory[8];
    int memory_count;
    const char *config;
    const char *run; /* the "invocation" of a hook */
};

static struct fake fake;

static void fake_keep(const char *text, size_t length, uint32_t number)
{
    fake.length = length;
    fake.number = number;
    snprintf(fake.text, sizeof(fake.text), "%.*s", (int)length, text);
}

static void fake_reset(void)
{
    for (int i = 0; i < fake.memory_count; i++)
        free(fake.memory[i]);
    fake = (struct fake){.config = "{}"};
}

static mortise_status fake_reply(mortise_call *call, uint32_t type, const char *text, size_t length)
{
    (void)call;
    fake_keep(text, length, type);
    return MORTISE_OK;
}

static mortise_status fake_fail(mortise_call *call, const mortise_error *error)
{
    (void)call;
    fake_keep(error->message, error->message_length, error->category);
    snprintf(fake.code, sizeof(fake.code), "%s", error->code ? error->code : "NULL");
    fake.wait_ms = error->retry_after_ms;
    return MORTISE_FAILED;
}

static void *fake_alloc(mortise_call *call, size_t bytes)
{
    (void)call;
    void *memory = fake.no_memory ? NULL : calloc(1, bytes);
    fake.memory[fake.memory_count++] = memory;
    return memory;
}

static void fake_refuse(const mortise_host *host, const char *reason)
{
    (void)host;
    fake_keep(reason, strlen(reason), 0);
}

static void fake_log(const mortise_host *host, uint32_t level, const char *message)
{
    (void)host;
    fake_keep(message, strlen(message), level);
}

static const char *fake_config(const mortise_host *host)
{
    (void)host;
    return fake.config;
}

static void fake_reason(mortise_hook *hook, const char *text, size_t length)
{
    (void)hook;
    fake_keep(text, length, 0);
}

static const char *fake_hook_context(mortise_hook *hook, const char *key)
{
    (void)hook;
    return strcmp(key, "invocation") == 0 ? fake.run : NULL;
}

static mortise_status fake_append(mortise_hook *hook, const char *json, size_t length)
{
    (void)hook;
    fake_keep(json, length, 0);
    return MORTISE_OK;
}

static mortise_status fake_respond(mortise_hook *hook, bool is_error, const char *text,
                                   size_t length)
{
    (void)hook;
    fake_keep(text, length, 0);
    fake.is_error = is_error;
    return MORTISE_OK;
}

static const mortise_call_ops fake_call_ops = {
    .size = sizeof(mortise_call_ops), .reply = fake_reply, .fail = fake_fail, .alloc = fake_alloc};
static const mortise_hook_ops fake_hook_ops = {.size = sizeof(mortise_hook_ops),
                                               .reason = fake_reason,
                                               .context = fake_hook_context,
                                               .append = fake_append,
                                               .respond = fake_respond};
static const mortise_host fake_host = {.size = sizeof(mortise_host),
                                       .abi_major = MORTISE_ABI_MAJOR,
                                       .refuse = fake_refuse,
                                       .log = fake_log,
                                       .config = fake_config};

#endif
