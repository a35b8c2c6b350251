#include "provider/wire_error.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/secret.h"
#include "base/text.h"
#include "base/utf8.h"
#include "provider/wire_error_kind.h"

#define MAX_CODES     12
#define MAX_DEPTH     5
#define MAX_ENTRIES   4
#define MESSAGE_BYTES 900

#define COUNT(array)  (sizeof(array) / sizeof((array)[0]))

/* What a document says about its error. */
struct finding {
    int status;
    const char *codes[MAX_CODES]; /* "code", "type", …: borrowed from the document */
    size_t code_count;
    int64_t retry_after_ms; /* -1 = nothing */
    struct text message;
};

static void report(struct finding *finding, struct error *error)
{
    if (finding->message.failed) {
        error_memory(error);
    } else {
        struct wire_verdict verdict =
            wire_error_judge(&(struct wire_finding){.status = finding->status,
                                                    .codes = finding->codes,
                                                    .code_count = finding->code_count,
                                                    .message = text_cstr(&finding->message)});
        const char *message = finding->message.length ? finding->message.data
                              : finding->code_count   ? finding->codes[0]
                                                      : NULL;
        if (message)
            error_set(error, verdict.kind, "%s", message);
        else if (finding->status)
            error_set(error, verdict.kind, "HTTP %d without an explanation", finding->status);
        else
            error_set(error, verdict.kind, "the server reported an error without an explanation");
        error->retryable = verdict.retryable;
    }
    error->status = finding->status;
    error->retry_after_ms = finding->retry_after_ms;
    text_release(&finding->message);
}

/* ---- plain text ---- */

/* A server may say the key again.  Before anything is cut: half of a key is not known as one. */
static void hide_secrets(struct text *text, bool was_cut)
{
    if (was_cut && text->data)
        secret_redact_buffer(text->data, text->length + 1);
    else
        secret_redact(text);
    text->length = strlen(text_cstr(text));
}

/* Appends what can be read on one line: clean UTF-8 without control characters, runs of
 * blanks as one, no more than a message holds. */
static void append_plain(struct text *out, const char *data, size_t length)
{
    const size_t most = (size_t)4 * MESSAGE_BYTES;
    struct text clean = TEXT_INIT;
    utf8_append_visible(&clean, data, length < most ? length : most);
    hide_secrets(&clean, length > most);
    bool gap = false;
    for (size_t i = 0; i < clean.length; i++) {
        if (isspace((unsigned char)clean.data[i])) {
            gap = true;
            continue;
        }
        if (gap && out->length)
            text_putc(out, ' ');
        gap = false;
        text_putc(out, clean.data[i]);
    }
    if (clean.failed)
        out->failed = true;
    text_release(&clean);
    if (out->length > MESSAGE_BYTES) {
        out->length = utf8_cut(out->data, out->length, MESSAGE_BYTES);
        out->data[out->length] = '\0';
        text_puts(out, "…");
    }
}

/* Adds a part of the message, unless it has been said. */
static void say(struct finding *finding, const char *data, size_t length)
{
    struct text plain = TEXT_INIT;
    append_plain(&plain, data, length);
    if (plain.failed) {
        finding->message.failed = true;
    } else if (plain.length && !strstr(text_cstr(&finding->message), plain.data)) {
        if (finding->message.length)
            text_puts(&finding->message, ": ");
        text_append(&finding->message, plain.data, plain.length);
    }
    text_release(&plain);
}

/* ---- documents ---- */

static const char *const code_keys[] = {"code",       "type",   "status",     "error_type",
                                        "error_code", "__type", "status_code"};
static const char *const message_keys[] = {"error",
                                           "message",
                                           "msg",
                                           "detail",
                                           "error_message",
                                           "error_msg",
                                           "errors",
                                           "title",
                                           "error_description",
                                           "innererror",
                                           "failed_generation"};

static bool is_status(json_int_t number)
{
    return number >= 400 && number <= 599;
}

static void take_code(struct finding *finding, const json_t *value)
{
    const char *string = json_string_value(value);
    json_int_t number = json_integer_value(value);
    if (string && *string && finding->code_count < MAX_CODES)
        finding->codes[finding->code_count++] = string;
    if (string && strlen(string) == 3)
        number = strtol(string, NULL, 10);
    if (!finding->status && is_status(number))
        finding->status = (int)number;
}

/* ---- when to come back ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* (strtod() would look for the decimal point of the user's language.) */
int64_t wire_error_decimal(const char *text, int64_t unit)
{
    const int64_t most = INT64_C(1) << 40;
    int64_t whole = 0;
    int64_t part = 0;
    if (!is_digit(*text))
        return -1;
    for (; is_digit(*text); text++)
        whole = whole < most ? whole * 10 + (*text - '0') : most;
    if (*text == '.')
        for (int64_t scale = unit / 10; is_digit(*++text); scale /= 10)
            part += scale * (*text - '0');
    return *text ? -1 : whole * unit + part;
}

/* Google's RetryInfo among the details: "17s", "0.5s". */
static void take_retry_delay(struct finding *finding, const json_t *details)
{
    char number[32];
    for (size_t i = 0; i < json_array_size(details); i++) {
        const char *delay = json_member_string(json_array_get(details, i), "retryDelay");
        size_t length = delay ? strlen(delay) : 0;
        if (length < 2 || length >= sizeof(number) || delay[length - 1] != 's')
            continue;
        snprintf(number, sizeof(number), "%.*s", (int)length - 1, delay);
        finding->retry_after_ms = wire_error_decimal(number, 1000);
    }
}

/* ---- what an object says ---- */

static void describe(struct finding *finding, const json_t *value, int depth);

/* {"loc": ["body", "messages"], "msg": "field required"}: the place goes first. */
static void describe_place(struct finding *finding, const json_t *place)
{
    struct text path = TEXT_INIT;
    size_t i;
    json_t *step;
    json_array_foreach (place, i, step) {
        if (path.length)
            text_putc(&path, '.');
        if (json_is_string(step))
            text_append(&path, json_string_value(step), json_string_length(step));
        else
            text_json(&path, step);
    }
    say(finding, text_cstr(&path), path.length);
    if (path.failed)
        finding->message.failed = true;
    text_release(&path);
}

/* Routers quote what the server behind them said, often as JSON once more. */
static void describe_upstream(struct finding *finding, const json_t *error, int depth)
{
    const json_t *raw = json_object_get(json_object_get(error, "metadata"), "raw");
    json_t *inner = json_is_string(raw)
                        ? json_parse(json_string_value(raw), json_string_length(raw), NULL, NULL)
                        : NULL;
    size_t codes = finding->code_count;
    describe(finding, json_is_object(inner) || json_is_array(inner) ? inner : raw, depth);
    if (inner)
        finding->code_count = codes; /* those would not outlive it */
    json_decref(inner);
}

static void describe_object(struct finding *finding, const json_t *object, int depth)
{
    for (size_t i = 0; i < COUNT(code_keys); i++)
        take_code(finding, json_object_get(object, code_keys[i]));
    take_retry_delay(finding, json_object_get(object, "details"));
    describe_place(finding, json_object_get(object, "loc"));
    for (size_t i = 0; i < COUNT(message_keys); i++)
        describe(finding, json_object_get(object, message_keys[i]), depth + 1);
    describe_upstream(finding, object, depth + 1);
}

static void describe(struct finding *finding, const json_t *value, int depth)
{
    if (depth > MAX_DEPTH)
        return;
    if (json_is_string(value))
        say(finding, json_string_value(value), json_string_length(value));
    else if (json_is_object(value))
        describe_object(finding, value, depth);
    else if (json_is_array(value))
        for (size_t i = 0; i < json_array_size(value) && i < MAX_ENTRIES; i++)
            describe(finding, json_array_get(value, i), depth + 1);
}

static bool is_set(const json_t *value)
{
    return json_is_true(value) || json_string_length(value) || json_object_size(value) ||
           json_array_size(value) || json_integer_value(value) != 0;
}

/* Whether the member says that something is wrong: some servers send an empty one always. */
static bool is_meant(const json_t *value)
{
    if (!json_is_object(value))
        return is_set(value);
    for (size_t i = 0; i < COUNT(code_keys); i++)
        if (is_set(json_object_get(value, code_keys[i])))
            return true;
    for (size_t i = 0; i < COUNT(message_keys); i++)
        if (is_set(json_object_get(value, message_keys[i])))
            return true;
    return false;
}

static bool is_labelled(const json_t *object)
{
    const char *object_type = json_member_string(object, "object");
    const char *type = json_member_string(object, "type");
    return (object_type && !strcmp(object_type, "error")) || (type && !strcmp(type, "error"));
}

/* {"message": "…"} is an error where nothing says that it is something else. */
static bool is_flat(const json_t *object)
{
    static const char *const others[] = {"choices", "content", "delta", "role", "object", "type"};
    for (size_t i = 0; i < COUNT(others); i++)
        if (json_object_get(object, others[i]))
            return false;
    const json_t *detail = json_object_get(object, "detail");
    return json_is_string(json_object_get(object, "message")) ||
           json_is_string(json_object_get(object, "msg")) || json_is_string(detail) ||
           json_is_array(detail) || json_object_get(object, "__type");
}

/* Whether it is an error even where none is expected. */
static bool holds_error(const json_t *document)
{
    if (json_is_array(document))
        return holds_error(json_array_get(document, 0));
    return json_is_object(document) && (is_meant(json_object_get(document, "error")) ||
                                        is_meant(json_object_get(document, "errors")) ||
                                        is_labelled(document) || is_flat(document));
}

bool wire_error_from_json(struct error *error, int status, const json_t *document)
{
    bool certain = holds_error(document);
    if (!certain && status < 400)
        return false;
    struct finding finding = {.status = status >= 300 ? status : 0, .retry_after_ms = -1};
    describe(&finding, document, 0);
    bool empty = !finding.message.length && !finding.message.failed && !finding.code_count;
    if (empty && !certain)
        return false;
    report(&finding, error);
    return true;
}

/* ---- pages ---- */

static bool starts(const char *at, const char *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - at) >= length && !strncasecmp(at, word, length);
}

static const char *find(const char *at, const char *end, const char *word)
{
    while (at < end && !starts(at, end, word))
        at++;
    return at;
}

/* Behind the tag at `at`; the contents of scripts and styles belong to their tag. */
static const char *skip_tag(const char *at, const char *end)
{
    if (starts(at, end, "<script"))
        at = find(at, end, "</script");
    else if (starts(at, end, "<style"))
        at = find(at, end, "</style");
    const char *close = at < end ? memchr(at, '>', (size_t)(end - at)) : NULL;
    return close ? close + 1 : end;
}

static void append_without_tags(struct text *out, const char *at, const char *end)
{
    while (at < end) {
        if (*at == '<') {
            at = skip_tag(at, end);
            text_putc(out, ' ');
            continue;
        }
        const char *tag = memchr(at, '<', (size_t)(end - at));
        text_append(out, at, (size_t)((tag ? tag : end) - at));
        at = tag ? tag : end;
    }
}

/* The title says it, where there is one. */
static void say_page(struct finding *finding, const char *body, size_t length)
{
    const char *end = body + (length < 65536 ? length : 65536);
    const char *title = find(body, end, "<title");
    const char *title_end = find(title, end, "</title");
    struct text plain = TEXT_INIT;
    if (title_end < end)
        append_without_tags(&plain, title, title_end);
    else
        append_without_tags(&plain, body, end);
    say(finding, text_cstr(&plain), plain.length);
    if (plain.failed)
        finding->message.failed = true;
    text_release(&plain);
}

/* "HTTP 502 Bad Gateway", not "HTTP 502: 502 Bad Gateway". */
static void say_status(struct finding *finding, int status)
{
    struct text message = TEXT_INIT;
    char number[16];
    int digits = snprintf(number, sizeof(number), "%d", status);
    const char *rest = text_cstr(&finding->message);
    if (!strncmp(rest, number, (size_t)digits))
        text_printf(&message, "HTTP %s", rest);
    else
        text_printf(&message, "HTTP %s%s%s", number, *rest ? ": " : "", rest);
    if (finding->message.failed)
        message.failed = true;
    text_release(&finding->message);
    finding->message = message;
}

void wire_error_from_body(struct error *error, int status, const char *body, size_t length)
{
    while (length && isspace((unsigned char)*body))
        body++, length--;
    json_t *document = length && *body != '<' ? json_parse(body, length, NULL, NULL) : NULL;
    bool known = document && wire_error_from_json(error, status, document);
    json_decref(document);
    if (known)
        return;
    struct finding finding = {.status = status, .retry_after_ms = -1};
    if (length && *body == '<')
        say_page(&finding, body, length);
    else if (length)
        say(&finding, body, length);
    if (status && finding.message.length)
        say_status(&finding, status);
    report(&finding, error);
}
