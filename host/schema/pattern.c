#include "schema/pattern.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"
#include "schema/pattern_syntax.h"
#include "schema/pcre2_api.h"

/* Backtracking from one start; about 20 ms. */
#define MATCH_LIMIT    1000000u
#define HEAP_KIB       (64u * 1024)
#define TIME_NS        INT64_C(500000000)
/* Reading the clock of a thread costs as much as some matches. */
#define TICKS_PER_LOOK 16

#define QUOTE_BYTES    100
/* Before each place where a match could start PCRE2 calls back: its own limits are for one
 * start, and a text has as many as it has characters. */
#define PREFIX         "(?C)"

#define OPTIONS                                                                                    \
    (PCRE2_UTF | PCRE2_ALT_BSUX | PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF |               \
     PCRE2_NEVER_BACKSLASH_C | PCRE2_ALLOW_EMPTY_CLASS)

struct pattern {
    const struct pcre2_api *api;
    pcre2_general_context *memory;
    pcre2_code *code;
};

static void *allocate(PCRE2_SIZE bytes, void *data)
{
    (void)data;
    return malloc(bytes);
}

static void release(void *memory, void *data)
{
    (void)data;
    free(memory);
}

/* ---- compiling ---- */

static void complain(const struct pcre2_api *api, const char *regex, size_t length, int code,
                     size_t offset, struct error *error)
{
    char reason[160] = "";
    api->get_error_message(code, (PCRE2_UCHAR *)reason, sizeof(reason));
    size_t origin =
        pattern_origin(regex, length, offset > strlen(PREFIX) ? offset - strlen(PREFIX) : 0);
    int shown = (int)utf8_cut(regex, length, QUOTE_BYTES);
    error_set(error, ERROR_PLUGIN, "the pattern '%.*s%s' is not valid: %s at character %zu", shown,
              regex, (size_t)shown < length ? "…" : "", reason, utf8_count(regex, origin));
}

static pcre2_code *compile(const struct pcre2_api *api, pcre2_general_context *memory,
                           const struct text *translated, int *code, size_t *offset)
{
    pcre2_compile_context *context = api->compile_context_create(memory);
    *code = PCRE2_ERROR_NOMEMORY;
    if (!context)
        return NULL;
    api->set_compile_extra_options(context, PCRE2_EXTRA_ALT_BSUX);
    api->set_newline(context, PCRE2_NEWLINE_LF);
    pcre2_code *compiled = api->compile((PCRE2_SPTR)translated->data, translated->length, OPTIONS,
                                        code, offset, context);
    api->compile_context_free(context);
    return compiled;
}

static bool ran_out(int code)
{
    return code == PCRE2_ERROR_NOMEMORY || code == PCRE2_ERROR_HEAP_FAILED;
}

static bool build(struct pattern *pattern, const char *regex, size_t length, struct error *error)
{
    const struct pcre2_api *api = pattern->api;
    struct text translated = TEXT_INIT;
    int code = PCRE2_ERROR_NOMEMORY;
    size_t offset = 0;
    text_puts(&translated, PREFIX);
    pattern_translate(regex, length, &translated);
    pattern->memory = api->general_context_create(allocate, release, NULL);
    if (pattern->memory && !translated.failed)
        pattern->code = compile(api, pattern->memory, &translated, &code, &offset);
    text_release(&translated);
    if (!pattern->code && ran_out(code))
        error_memory(error);
    else if (!pattern->code)
        complain(api, regex, length, code, offset, error);
    return pattern->code != NULL;
}

struct pattern *pattern_compile(const char *regex, size_t length, struct error *error)
{
    const struct pcre2_api *api = pcre2_api(error);
    if (!api)
        return NULL;
    struct pattern *pattern = calloc(1, sizeof(*pattern));
    if (!pattern) {
        error_memory(error);
        return NULL;
    }
    pattern->api = api;
    if (build(pattern, regex, length, error))
        return pattern;
    pattern_free(pattern);
    return NULL;
}

void pattern_free(struct pattern *pattern)
{
    if (!pattern)
        return;
    pattern->api->code_free(pattern->code);
    if (pattern->memory)
        pattern->api->general_context_free(pattern->memory);
    free(pattern);
}

/* ---- matching ---- */

static int64_t thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int tick(pcre2_callout_block *block, void *data)
{
    struct pattern_clock *clock = data;
    (void)block;
    if (++clock->ticks % TICKS_PER_LOOK)
        return 0;
    int64_t now_ns = thread_ns();
    if (!clock->end_ns)
        clock->end_ns = now_ns + TIME_NS;
    return now_ns > clock->end_ns ? PCRE2_ERROR_CALLOUT : 0;
}

static int match(const struct pattern *pattern, const char *text, size_t length,
                 struct pattern_clock *clock)
{
    const struct pcre2_api *api = pattern->api;
    pcre2_match_data *found = api->match_data_create(1, pattern->memory);
    pcre2_match_context *context = api->match_context_create(pattern->memory);
    int code = PCRE2_ERROR_NOMEMORY;
    if (found && context) {
        api->set_match_limit(context, MATCH_LIMIT);
        api->set_heap_limit(context, HEAP_KIB);
        api->set_callout(context, tick, clock);
        code = api->match(pattern->code, (PCRE2_SPTR)text, length, 0, PCRE2_NO_UTF_CHECK, found,
                          context);
    }
    api->match_context_free(context);
    api->match_data_free(found);
    return code;
}

bool pattern_matches(const struct pattern *pattern, const char *text, size_t length,
                     struct pattern_clock *clock, bool *matches, struct error *error)
{
    struct pattern_clock own = {0};
    int code = match(pattern, text, length, clock ? clock : &own);
    *matches = code >= 0;
    if (code >= PCRE2_ERROR_NOMATCH)
        return true;
    if (ran_out(code))
        return error_memory(error);
    return error_set(error, ERROR_LIMIT, "matching it takes more work than is allowed");
}
