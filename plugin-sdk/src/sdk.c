/*
 * The part of the SDK that is linked into every plugin: what tool_definition() does, formatted
 * results and errors, JSON strings, and reading the plugin's configuration.  It needs the C
 * library and nothing else; its functions have hidden visibility.
 */
#include <mortise/tool.h>

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening and closing a plugin ------------------------------------------------------ */

/* What the host gets, and behind it, in the same block, all that it points to: copies of the
 * tools and hooks that carry the plugin's state. */
struct opened {
    mortise_plugin face; /* first: the host has its address */
    const mortise_plugin_parts *parts;
    void *state;
};

static size_t count_pointers(const void *list)
{
    const void *const *pointers = list;
    size_t n = 0;
    while (pointers && pointers[n])
        n++;
    return n;
}

static void close_plugin(mortise_plugin *face)
{
    struct opened *self = (struct opened *)face;
    if (self->parts->close)
        self->parts->close(self->state);
    free(self);
}

/* ---- a guard that cannot work ---- */

/* Where mortise_refuse() leaves its reason while a guard is opened; NULL: with the host. */
static char **kept_reason;

static mortise_verdict fail_run(void *state, mortise_hook *hook)
{
    mortise_hook_reason(hook, "%s", (const char *)state);
    return MORTISE_HOOK_FAILED;
}

static mortise_verdict fail_prompt(void *state, mortise_hook *hook,
                                   const mortise_prompt_submit *event)
{
    (void)event;
    return fail_run(state, hook);
}

static mortise_verdict fail_request(void *state, mortise_hook *hook,
                                    const mortise_pre_llm_request *event)
{
    (void)event;
    return fail_run(state, hook);
}

static mortise_verdict fail_call(void *state, mortise_hook *hook,
                                 const mortise_pre_tool_call *event)
{
    (void)event;
    return fail_run(state, hook);
}

MORTISE_HOOK(cannot_guard, .priority = INT32_MIN, .prompt_submit = fail_prompt,
    .pre_llm_request = fail_request, .pre_tool_call = fail_call);

static mortise_plugin *open_parts(const mortise_host *host, const mortise_plugin_parts *parts,
                                  void *state);

static mortise_plugin *open_closed(const mortise_host *host, const mortise_plugin_parts *parts,
                                   char *reason)
{
    static mortise_plugin_parts closed;
    closed = (mortise_plugin_parts){.name = parts->name,
                                    .version = parts->version,
                                    .hooks = MORTISE_HOOKS(cannot_guard),
                                    .close = free};
    mortise_log(host, MORTISE_LOG_WARNING, "plugin '%s' will stop every run: %s", parts->name,
                reason);
    mortise_plugin *plugin = open_parts(host, &closed, reason);
    if (!plugin)
        free(reason);
    return plugin;
}

mortise_plugin *mortise_open_plugin(const mortise_host *host, const mortise_plugin_parts *parts)
{
    char *reason = NULL;
    if (!parts->guard)
        return open_parts(host, parts, NULL);
    kept_reason = &reason;
    mortise_plugin *plugin = open_parts(host, parts, NULL);
    kept_reason = NULL;
    if (plugin || !reason) {
        free(reason);
        return plugin;
    }
    return open_closed(host, parts, reason);
}

/* ---- any plugin ---- */

/* `state` is that of parts without open(). */
static mortise_plugin *open_parts(const mortise_host *host, const mortise_plugin_parts *parts,
                                  void *state)
{
    size_t tool_count = count_pointers(parts->tools);
    size_t hook_count = count_pointers(parts->hooks);
    struct block {
        struct opened opened;
        max_align_t rest[];
    } * block;
    size_t size = sizeof(*block) + tool_count * (sizeof(mortise_tool) + sizeof(mortise_tool *)) +
                  hook_count * (sizeof(mortise_hooks) + sizeof(mortise_hooks *));

    block = calloc(1, size);
    if (!block)
        return mortise_refuse(host, "out of memory");
    struct opened *self = &block->opened;
    self->parts = parts;
    self->state = state;
    if (parts->open) {
        self->state = parts->open(host);
        if (!self->state) {
            free(block);
            return NULL;
        }
    }

    mortise_tool *tools = (mortise_tool *)(void *)block->rest;
    mortise_hooks *hooks = (mortise_hooks *)(void *)(tools + tool_count);
    const mortise_tool **tool_list = (const mortise_tool **)(void *)(hooks + hook_count);
    const mortise_hooks **hook_list = (const mortise_hooks **)(void *)(tool_list + tool_count);
    for (size_t i = 0; i < tool_count; i++) {
        tools[i] = *parts->tools[i];
        if (!tools[i].state) {
            tools[i].state = self->state;
            tools[i].state_tag = parts->state_tag;
        }
        tool_list[i] = &tools[i];
    }
    size_t wanted = 0;
    for (size_t i = 0; i < hook_count; i++) {
        if (parts->wants && !parts->wants(self->state, parts->hooks[i]))
            continue;
        hooks[wanted] = *parts->hooks[i];
        if (!hooks[wanted].state)
            hooks[wanted].state = self->state;
        hook_list[wanted] = &hooks[wanted];
        wanted++;
    }
    self->face = (mortise_plugin){
        .size = sizeof(mortise_plugin),
        .name = parts->name,
        .version = parts->version,
        .tools = tool_list,
        .tool_count = tool_count,
        .hooks = hook_list,
        .hook_count = wanted,
        .close = close_plugin,
    };
    return &self->face;
}

/* ---- formatted text --------------------------------------------------------------------- */

/* A text that lives in `small` if it fits and on the heap if not; `bytes` is NULL when there
 * was no memory. */
struct text {
    char *bytes;
    size_t length;
    char small[512];
};

MORTISE__PRINTF(2, 0)
static void text_format(struct text *text, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(text->small, sizeof(text->small), format, args);
    text->bytes = length < 0 ? NULL : text->small;
    text->length = length < 0 ? 0 : (size_t)length;
    if (text->length >= sizeof(text->small)) {
        text->bytes = malloc(text->length + 1);
        if (text->bytes)
            vsnprintf(text->bytes, text->length + 1, format, again);
    }
    va_end(again);
}

static void text_release(struct text *text)
{
    if (text->bytes != text->small)
        free(text->bytes);
}

MORTISE__PRINTF(3, 0)
static mortise_status reply(mortise_call *call, uint32_t type, const char *format, va_list args)
{
    struct text text;
    text_format(&text, format, args);
    mortise_status status = MORTISE_NO_MEMORY;
    if (text.bytes)
        status = call->ops->reply(call, type, text.bytes, text.length);
    text_release(&text);
    return status;
}

mortise_status mortise_reply(mortise_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mortise_status status = reply(call, MORTISE_TEXT_RESULT, format, args);
    va_end(args);
    return status;
}

mortise_status mortise_reply_json(mortise_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mortise_status status = reply(call, MORTISE_JSON_RESULT, format, args);
    va_end(args);
    return status;
}

MORTISE__PRINTF(3, 0)
static mortise_status fail(mortise_call *call, mortise_error error, const char *format,
                           va_list args)
{
    struct text text;
    text_format(&text, format, args);
    mortise_status status = MORTISE_NO_MEMORY;
    if (text.bytes) {
        error.size = sizeof(error);
        error.message = text.bytes;
        error.message_length = text.length;
        status = call->ops->fail(call, &error);
    }
    text_release(&text);
    return status;
}

mortise_status mortise_fail(mortise_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mortise_status status =
        fail(call, (mortise_error){.category = MORTISE_INTERNAL}, format, args);
    va_end(args);
    return status;
}

mortise_status mortise_fail_as(mortise_call *call, mortise_category category, const char *code,
                               const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mortise_status status =
        fail(call, (mortise_error){.category = category, .code = code}, format, args);
    va_end(args);
    return status;
}

mortise_status mortise_fail_retry(mortise_call *call, mortise_category category, const char *code,
                                  int64_t after_ms, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mortise_error error = {.category = category, .code = code, .retry_after_ms = after_ms};
    mortise_status status = fail(call, error, format, args);
    va_end(args);
    return status;
}

void mortise_hook_reason(mortise_hook *hook, const char *format, ...)
{
    struct text text;
    va_list args;
    va_start(args, format);
    text_format(&text, format, args);
    va_end(args);
    if (text.bytes)
        hook->ops->reason(hook, text.bytes, text.length);
    text_release(&text);
}

mortise_status mortise_hook_respond(mortise_hook *hook, bool is_error, const char *format, ...)
{
    struct text text;
    va_list args;
    va_start(args, format);
    text_format(&text, format, args);
    va_end(args);
    mortise_status status = MORTISE_NO_MEMORY;
    if (text.bytes)
        status = hook->ops->respond(hook, is_error, text.bytes, text.length);
    text_release(&text);
    return status;
}

void *mortise_refuse(const mortise_host *host, const char *format, ...)
{
    struct text text;
    va_list args;
    va_start(args, format);
    text_format(&text, format, args);
    va_end(args);
    const char *reason = text.bytes ? text.bytes : "out of memory";
    char *kept = kept_reason ? malloc(strlen(reason) + 1) : NULL;
    if (kept) {
        memcpy(kept, reason, strlen(reason) + 1);
        free(*kept_reason);
        *kept_reason = kept;
    } else {
        host->refuse(host, reason);
    }
    text_release(&text);
    return NULL;
}

void mortise_log(const mortise_host *host, uint32_t level, const char *format, ...)
{
    struct text text;
    va_list args;
    va_start(args, format);
    text_format(&text, format, args);
    va_end(args);
    if (text.bytes)
        host->log(host, level, text.bytes);
    text_release(&text);
}

/* ---- writing JSON strings --------------------------------------------------------------- */

/* Writes the JSON escape of `c` to `out`, at most 6 bytes; returns its length. */
static size_t escape(char out[6], unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char names[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* what it is, what it is called */
    for (size_t i = 0; i + 1 < sizeof(names); i += 2) {
        if (names[i] == (char)c) {
            out[0] = '\\';
            out[1] = names[i + 1];
            return 2;
        }
    }
    if (c >= 0x20) {
        out[0] = (char)c;
        return 1;
    }
    memcpy(out, "\\u00", 4);
    out[4] = hex[c >> 4];
    out[5] = hex[c & 15];
    return 6;
}

/* Puts `length` bytes at `at` as far as there is room beside the closing NUL. */
static size_t put(char *out, size_t size, size_t at, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length && size > 0 && at + i < size - 1; i++)
        out[at + i] = bytes[i];
    return at + length;
}

/* The length of the UTF-8 character that begins at `p`; 0 when there is none. */
static size_t character_length(const unsigned char *p, size_t left)
{
    size_t length = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (length == 0 || length > left || p[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool wrong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
                 (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90);
    return wrong ? 0 : length; /* too long, half of a pair, or beyond the last character */
}

size_t mortise_json_quote(char *out, size_t size, const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t n = put(out, size, 0, "\"", 1);
    for (size_t i = 0; i < length;) {
        char escaped[6];
        size_t taken = character_length(bytes + i, length - i);
        if (taken == 0)
            n = put(out, size, n, "\xef\xbf\xbd", 3);
        else if (taken == 1)
            n = put(out, size, n, escaped, escape(escaped, bytes[i]));
        else
            n = put(out, size, n, text + i, taken);
        i += taken ? taken : 1;
    }
    n = put(out, size, n, "\"", 1);
    if (size > 0)
        out[n < size ? n : size - 1] = '\0';
    return n;
}

const char *mortise_quote(mortise_call *call, const char *text)
{
    size_t length = strlen(text);
    size_t size = mortise_json_quote(NULL, 0, text, length) + 1;
    char *out = mortise_alloc(call, size);
    if (!out)
        return "null";
    mortise_json_quote(out, size, text, length);
    return out;
}

/* Writes a message item as JSON; `out`, `size` and what is returned as in mortise_json_quote(). */
static size_t write_message(char *out, size_t size, const char *role, const char *text)
{
    const char *type = strcmp(role, "assistant") == 0 ? "output_text" : "input_text";
    const char *parts[] = {"{\"type\":\"message\",\"role\":\"", role,
                           "\",\"content\":[{\"type\":\"", type, "\",\"text\":"};
    size_t n = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        n = put(out, size, n, parts[i], strlen(parts[i]));
    size_t used = n < size ? n : size;
    n += mortise_json_quote(out ? out + used : NULL, size - used, text, strlen(text));
    n = put(out, size, n, "}]}", 3);
    if (size > 0)
        out[n < size ? n : size - 1] = '\0';
    return n;
}

mortise_status mortise_hook_append_text(mortise_hook *hook, const char *role, const char *text)
{
    size_t length = write_message(NULL, 0, role, text);
    char *item = malloc(length + 1);
    if (!item)
        return MORTISE_NO_MEMORY;
    write_message(item, length + 1, role, text);
    mortise_status status = hook->ops->append(hook, item, length);
    free(item);
    return status;
}

/* ---- the state of a run -------------------------------------------------------------------- */

enum { RUNS_KEPT = 1024 };

/* One run, newest first in a list; `key` is the run's name, behind the state. */
struct run {
    struct run *next;
    char *key;
    max_align_t state[];
};

static void lock_runs(mortise_runs *runs)
{
    while (__atomic_exchange_n(&runs->lock, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void unlock_runs(mortise_runs *runs)
{
    __atomic_store_n(&runs->lock, 0, __ATOMIC_RELEASE);
}

static struct run *new_run(const char *key, size_t size)
{
    size_t length = strlen(key) + 1;
    if (size > SIZE_MAX - sizeof(struct run) - length)
        return NULL;
    struct run *run = calloc(1, sizeof(*run) + size + length);
    if (run) {
        run->key = (char *)run->state + size;
        memcpy(run->key, key, length);
    }
    return run;
}

/* Takes the run `key` out of the list; NULL: it is not there.  Drops what is too old. */
static struct run *take_run(mortise_runs *runs, const char *key)
{
    struct run *first = runs->newest, **place = &first, *run;
    size_t count = 0;
    while ((run = *place) && strcmp(run->key, key) != 0 && ++count < RUNS_KEPT)
        place = &run->next;
    if (run)
        *place = run->next;
    runs->newest = first;
    if (run && strcmp(run->key, key) != 0) {
        free(run);
        run = NULL;
    }
    return run;
}

void *mortise_run_state(mortise_runs *runs, mortise_hook *hook, size_t size)
{
    const char *key = mortise_hook_context(hook, "invocation");
    if (!key)
        key = "";
    lock_runs(runs);
    struct run *run = take_run(runs, key);
    if (!run)
        run = new_run(key, size);
    if (run) {
        run->next = runs->newest;
        runs->newest = run;
    }
    unlock_runs(runs);
    return run ? run->state : NULL;
}

void mortise_runs_release(mortise_runs *runs)
{
    struct run *run = runs->newest;
    runs->newest = NULL;
    while (run) {
        struct run *next = run->next;
        free(run);
        run = next;
    }
}

/* ---- reading the configuration ------------------------------------------------------------ */

/*
 * The host gives a JSON object that it wrote itself, so this reader checks as much as it needs
 * for not running astray: a text that is no JSON ends in MORTISE_INVALID, never beyond its NUL.
 * Each function takes a place in the text and returns the one behind what it read, or NULL.
 */
static const char *skip_space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* The value of four hexadecimal digits, or -1. */
static int read_hex4(const char *p)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *digit = p[i] ? strchr(digits, p[i]) : NULL;
        if (!digit)
            return -1;
        value = value * 16 + (int)((digit - digits) % 16);
    }
    return value;
}

/* Writes a code point as UTF-8; returns its length. */
static size_t write_utf8(char out[4], uint32_t code)
{
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)(first[length == 1 ? 0 : length] | code);
    return length;
}

/* Reads what follows a backslash; `out` gets 1 to 4 bytes. */
static const char *read_escape(const char *p, char out[4], size_t *length)
{
    static const char names[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    if (*p != 'u') {
        for (size_t i = 0; i + 1 < sizeof(names); i += 2) {
            if (names[i] == *p) {
                out[0] = names[i + 1];
                *length = 1;
                return p + 1;
            }
        }
        return NULL;
    }
    int high = read_hex4(p + 1);
    p += 5;
    if (high <= 0 || (high >= 0xdc00 && high < 0xe000))
        return NULL; /* no digits, NUL, or the second half of a pair alone */
    uint32_t code = (uint32_t)high;
    if (high >= 0xd800 && high < 0xdc00) {
        int low = p[0] == '\\' && p[1] == 'u' ? read_hex4(p + 2) : -1;
        if (low < 0xdc00 || low >= 0xe000)
            return NULL;
        code = 0x10000u + (((uint32_t)high - 0xd800u) << 10) + ((uint32_t)low - 0xdc00u);
        p += 6;
    }
    *length = write_utf8(out, code);
    return p;
}

/* Reads a string to `out`, cut at `size`; *length is that of the whole. */
static const char *read_string(const char *p, char *out, size_t size, size_t *length)
{
    size_t n = 0;
    if (*p++ != '"')
        return NULL;
    while (*p != '"') {
        char bytes[4] = {*p};
        size_t count = 1;
        if ((unsigned char)*p < 0x20)
            return NULL; /* also the end of the text */
        p = *p == '\\' ? read_escape(p + 1, bytes, &count) : p + 1;
        if (!p)
            return NULL;
        n = put(out, size, n, bytes, count);
    }
    if (size > 0)
        out[n < size ? n : size - 1] = '\0';
    *length = n;
    return p + 1;
}

/* Passes over a value of any kind.  Brackets inside it are counted, not matched by kind. */
static const char *skip_value(const char *p)
{
    size_t depth = 0, ignored;
    do {
        p = skip_space(p);
        if (*p == '"') {
            p = read_string(p, NULL, 0, &ignored);
            if (!p)
                return NULL;
        } else if (*p == '{' || *p == '[') {
            depth++;
            p++;
        } else if (depth > 0 && (*p == '}' || *p == ']')) {
            depth--;
            p++;
        } else if (depth > 0 && (*p == ',' || *p == ':')) {
            p++;
        } else {
            size_t word = strspn(p, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");
            if (word == 0)
                return NULL;
            p += word;
        }
    } while (depth > 0);
    return p;
}

/* Finds where the value of `key` begins in the object `json`. */
static mortise_status find_member(const char *json, const char *key, const char **value)
{
    size_t key_length = strlen(key);
    const char *p = skip_space(json);
    if (*p++ != '{')
        return MORTISE_INVALID;
    p = skip_space(p);
    while (*p != '}') {
        char name[128];
        size_t length;
        p = read_string(p, name, sizeof(name), &length);
        if (!p)
            return MORTISE_INVALID;
        p = skip_space(p);
        if (*p++ != ':')
            return MORTISE_INVALID;
        p = skip_space(p);
        if (length == key_length && length < sizeof(name) && strcmp(name, key) == 0) {
            *value = p;
            return strncmp(p, "null", 4) == 0 ? MORTISE_NOT_FOUND : MORTISE_OK;
        }
        p = skip_value(p);
        if (!p)
            return MORTISE_INVALID;
        p = skip_space(p);
        if (*p == ',')
            p = skip_space(p + 1);
        else if (*p != '}')
            return MORTISE_INVALID;
    }
    return MORTISE_NOT_FOUND;
}

static mortise_status find_config(const mortise_host *host, const char *key, const char **value)
{
    const char *json = host->config(host);
    return json ? find_member(json, key, value) : MORTISE_NOT_FOUND;
}

/* Whether a word or a number that ends at `p` really ends there. */
static bool at_end_of_value(const char *p)
{
    return *p != '\0' && strchr(" \t\r\n,}", *p) != NULL;
}

mortise_status mortise_config_string(const mortise_host *host, const char *key, char *out,
                                     size_t size)
{
    const char *value;
    size_t length;
    mortise_status status = find_config(host, key, &value);
    if (status != MORTISE_OK)
        return status;
    if (!read_string(value, NULL, 0, &length) || length >= size)
        return MORTISE_INVALID;
    read_string(value, out, size, &length);
    return MORTISE_OK;
}

mortise_status mortise_config_number(const mortise_host *host, const char *key, double *out)
{
    const char *value;
    char *end;
    mortise_status status = find_config(host, key, &value);
    if (status != MORTISE_OK)
        return status;
    if (*value != '-' && (*value < '0' || *value > '9'))
        return MORTISE_INVALID;
    double number = strtod(value, &end);
    if (!at_end_of_value(end) || !isfinite(number))
        return MORTISE_INVALID;
    *out = number;
    return MORTISE_OK;
}

mortise_status mortise_config_integer(const mortise_host *host, const char *key, int64_t *out)
{
    const char *value;
    char *end;
    mortise_status status = find_config(host, key, &value);
    if (status != MORTISE_OK)
        return status;
    if (*value != '-' && (*value < '0' || *value > '9'))
        return MORTISE_INVALID;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (!at_end_of_value(end) || errno == ERANGE)
        return MORTISE_INVALID;
    *out = number;
    return MORTISE_OK;
}

mortise_status mortise_config_boolean(const mortise_host *host, const char *key, bool *out)
{
    const char *value;
    mortise_status status = find_config(host, key, &value);
    if (status != MORTISE_OK)
        return status;
    if (strncmp(value, "true", 4) == 0 && at_end_of_value(value + 4))
        *out = true;
    else if (strncmp(value, "false", 5) == 0 && at_end_of_value(value + 5))
        *out = false;
    else
        return MORTISE_INVALID;
    return MORTISE_OK;
}

/* Reads a list of strings into `list`, with its texts in `texts`; either may be NULL to only
 * count and measure.  Returns whether it is one. */
static bool read_strings(const char *p, char **list, char *texts, size_t *count, size_t *bytes)
{
    *count = *bytes = 0;
    if (*p++ != '[')
        return false;
    for (p = skip_space(p); *p != ']'; p = skip_space(p)) {
        size_t length;
        if (*count > 0 && *p++ != ',')
            return false;
        p = skip_space(p);
        if (list)
            list[*count] = texts + *bytes;
        p = read_string(p, texts ? texts + *bytes : NULL, texts ? SIZE_MAX : 0, &length);
        if (!p)
            return false;
        *count += 1;
        *bytes += length + 1;
    }
    return true;
}

mortise_status mortise_config_strings(const mortise_host *host, const char *key, char ***out)
{
    const char *value;
    size_t count, bytes;
    mortise_status status = find_config(host, key, &value);
    if (status != MORTISE_OK)
        return status;
    if (!read_strings(value, NULL, NULL, &count, &bytes))
        return MORTISE_INVALID;
    size_t pointers = (count + 1) * sizeof(char *);
    char **list = malloc(pointers + bytes);
    if (!list)
        return MORTISE_NO_MEMORY;
    read_strings(value, list, (char *)list + pointers, &count, &bytes);
    list[count] = NULL;
    *out = list;
    return MORTISE_OK;
}
