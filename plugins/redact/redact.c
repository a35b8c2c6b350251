/* Takes secrets out of what tools answer and of what is sent to the model. */
#include <mortise/tool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "secrets.h"

struct redact {
    struct secrets secrets;
    bool active; /* something is configured */
};

/* ---- the events ---------------------------------------------------------------------------- */

static mortise_verdict no_memory(mortise_hook *hook)
{
    mortise_hook_reason(hook, "out of memory");
    return MORTISE_HOOK_FAILED;
}

static mortise_verdict post_tool_call(void *state, mortise_hook *hook,
                                      const mortise_post_tool_call *event)
{
    const struct redact *self = state;
    struct buffer out = {0};
    mortise_verdict verdict = MORTISE_CONTINUE;
    if (document_redact(&self->secrets, event->result, event->result_length, &out) &&
        (out.failed || hook->ops->set_result(hook, event->is_error, out.data, out.length)))
        verdict = no_memory(hook);
    buffer_release(&out);
    return verdict;
}

/* A provider signs what its model thought, and has it already. */
static bool is_reasoning(const char *item)
{
    static const char start[] = "{\"type\":\"reasoning\"";
    return strncmp(item, start, sizeof(start) - 1) == 0;
}

static mortise_verdict pre_llm_request(void *state, mortise_hook *hook,
                                       const mortise_pre_llm_request *event)
{
    const struct redact *self = state;
    size_t count = hook->ops->item_count(hook);
    for (size_t i = event->locked_prefix; i < count; i++) {
        size_t length;
        struct buffer out = {0};
        const char *item = hook->ops->item(hook, i, &length);
        mortise_status status = item ? MORTISE_OK : MORTISE_NO_MEMORY;
        if (item && !is_reasoning(item) && document_redact_item(&self->secrets, item, length, &out))
            status =
                out.failed ? MORTISE_NO_MEMORY : hook->ops->set_item(hook, i, out.data, out.length);
        buffer_release(&out);
        if (status == MORTISE_NO_MEMORY)
            return no_memory(hook);
        if (status != MORTISE_OK) {
            mortise_hook_reason(hook, "a secret in item %zu could not be taken out", i);
            return MORTISE_HOOK_FAILED;
        }
    }
    return MORTISE_CONTINUE;
}

/* Late: what other hooks wrote is looked at too. */
MORTISE_HOOK(redact, .priority = 900, .pre_llm_request = pre_llm_request,
    .post_tool_call = post_tool_call);

/* ---- the plugin ---------------------------------------------------------------------------- */

static bool wants(const void *state, const mortise_hooks *hooks)
{
    const struct redact *self = state;
    (void)hooks;
    return self->active;
}

static void redact_close(void *state)
{
    struct redact *self = state;
    secrets_release(&self->secrets);
    free(self);
}

/* Reads the list `key`; false when it is none.  An absent one is NULL. */
static bool read_list(const mortise_host *host, struct redact *self, const char *key, char ***list)
{
    *list = NULL;
    mortise_status status = mortise_config_strings(host, key, list);
    self->active |= status == MORTISE_OK;
    if (status == MORTISE_OK || status == MORTISE_NOT_FOUND)
        return true;
    mortise_refuse(host, "\"%s\" is not a list of texts", key);
    return false;
}

/* A text such as "red" would be found in its own replacement. */
static bool add_text(const mortise_host *host, struct redact *self, const char *text,
                     const char *what)
{
    if (strlen(text) < SECRET_MIN_BYTES || strstr(REDACTED, text)) {
        mortise_refuse(host,
                       "%s cannot be redacted: it has less than %d bytes, or is part of "
                       "'" REDACTED "'",
                       what, SECRET_MIN_BYTES);
        return false;
    }
    if (secrets_add_text(&self->secrets, text))
        return true;
    mortise_refuse(host, "out of memory");
    return false;
}

static bool read_texts(const mortise_host *host, struct redact *self)
{
    char **texts, what[64];
    bool ok = read_list(host, self, "texts", &texts);
    for (size_t i = 0; ok && texts && texts[i]; i++) {
        snprintf(what, sizeof(what), "text %zu of \"texts\"", i + 1);
        ok = add_text(host, self, texts[i], what);
    }
    free(texts);
    return ok;
}

static bool read_environment(const mortise_host *host, struct redact *self)
{
    char **names, what[160];
    bool ok = read_list(host, self, "environment", &names);
    for (size_t i = 0; ok && names && names[i]; i++) {
        const char *value = getenv(names[i]);
        snprintf(what, sizeof(what), "the value of '%.100s'", names[i]);
        if (value && *value)
            ok = add_text(host, self, value, what);
    }
    free(names);
    return ok;
}

static bool read_patterns(const mortise_host *host, struct redact *self)
{
    char **patterns, why[160];
    bool ok = read_list(host, self, "patterns", &patterns);
    for (size_t i = 0; ok && patterns && patterns[i]; i++) {
        const char *wrong = secrets_add_pattern(&self->secrets, patterns[i], why, sizeof(why));
        if (wrong) {
            mortise_refuse(host, "pattern '%s': %s", patterns[i], wrong);
            ok = false;
        }
    }
    free(patterns);
    return ok;
}

static bool read_config(const mortise_host *host, struct redact *self)
{
    bool keys = true;
    mortise_status status = mortise_config_boolean(host, "keys", &keys);
    if (status == MORTISE_INVALID) {
        mortise_refuse(host, "\"keys\" is neither true nor false");
        return false;
    }
    self->active = status == MORTISE_OK && keys;
    if (!read_texts(host, self) || !read_environment(host, self) || !read_patterns(host, self))
        return false;
    if (self->active && keys)
        secrets_add_keys(&self->secrets);
    return true;
}

static void *redact_open(const mortise_host *host)
{
    struct redact *self = calloc(1, sizeof(*self));
    if (!self)
        return mortise_refuse(host, "out of memory");
    if (!read_config(host, self)) {
        redact_close(self);
        return NULL;
    }
    if (!self->active)
        mortise_log(host, MORTISE_LOG_DEBUG, "redact: nothing is configured");
    return self;
}

MORTISE_PLUGIN(.name = "redact", .version = "1.0.0", .hooks = MORTISE_HOOKS(redact), .wants = wants,
               .guard = true, .open = redact_open, .close = redact_close);
