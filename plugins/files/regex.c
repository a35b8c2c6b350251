#include "regex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
    PATTERN_BYTES = 8192,
    MATCH_LIMIT = 1000000, /* from one place; about 20 ms */
    HEAP_KIB = 64 * 1024,
    JIT_STACK = 1024 * 1024,
    TICKS_PER_LOOK = 64, /* reading the clock costs as much as a few matches */
};
/* Makes PCRE2 call back before each place where a match could begin; and verbs that would change
 * limits are none behind it. */
#define PREFIX "(?C)"

struct regex {
    mortise_call *call;
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    int64_t until_ms;
    unsigned ticks;
    enum regex_end stopped; /* by the callback */
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int look(pcre2_callout_block *block, void *data)
{
    struct regex *regex = data;
    (void)block;
    if (++regex->ticks % TICKS_PER_LOOK)
        return 0;
    if (mortise_cancelled(regex->call))
        regex->stopped = REGEX_CANCELLED;
    else if (now_ms() > regex->until_ms)
        regex->stopped = REGEX_TIME;
    return regex->stopped ? PCRE2_ERROR_CALLOUT : 0;
}

/* The pattern behind the prefix; of a literal one, what has a meaning gets a backslash. */
static char *wrap(const char *pattern, bool literal)
{
    size_t length = strlen(pattern), used;
    char *out = malloc(length * 2 + sizeof(PREFIX));
    if (!out)
        return NULL;
    strcpy(out, PREFIX);
    used = strlen(PREFIX);
    for (const char *at = pattern; *at; at++) {
        bool is_special = literal && strchr("\\^$.[]|()?*+{}#", *at);
        if (is_special)
            out[used++] = '\\';
        out[used++] = *at;
    }
    out[used] = '\0';
    return out;
}

static bool compile(struct regex *regex, const char *pattern, const struct regex_options *options,
                    char *why, size_t size)
{
    uint32_t flags = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C |
                     PCRE2_MULTILINE | (options->ignore_case ? PCRE2_CASELESS : 0) |
                     (options->multiline ? PCRE2_DOTALL : 0);
    int code;
    size_t offset;
    char *text = wrap(pattern, options->literal);
    if (!text) {
        snprintf(why, size, "out of memory");
        return false;
    }
    regex->code =
        pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, flags, &code, &offset, NULL);
    if (!regex->code) {
        char reason[160] = "";
        size_t in_front = strlen(PREFIX);
        pcre2_get_error_message(code, (PCRE2_UCHAR *)reason, sizeof(reason));
        snprintf(why, size, "%s at byte %zu; set literal to search for the text as it is", reason,
                 offset > in_front ? offset - in_front : 0);
    }
    free(text);
    return regex->code != NULL;
}

struct regex *regex_new(mortise_call *call, const char *pattern,
                        const struct regex_options *options, char *why, size_t size)
{
    struct regex *regex = calloc(1, sizeof(*regex));
    snprintf(why, size, "out of memory");
    if (strlen(pattern) > PATTERN_BYTES)
        snprintf(why, size, "it is longer than %d bytes", PATTERN_BYTES);
    else if (regex && compile(regex, pattern, options, why, size)) {
        regex->call = call;
        regex->until_ms = now_ms() + options->time_ms;
        regex->data = pcre2_match_data_create(1, NULL);
        regex->context = pcre2_match_context_create(NULL);
        if (regex->data && regex->context) {
            pcre2_set_match_limit(regex->context, MATCH_LIMIT);
            pcre2_set_heap_limit(regex->context, HEAP_KIB);
            pcre2_set_callout(regex->context, look, regex);
            if (pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE) == 0 &&
                (regex->stack = pcre2_jit_stack_create(32 * 1024, JIT_STACK, NULL)))
                pcre2_jit_stack_assign(regex->context, NULL, regex->stack);
            return regex;
        }
    }
    regex_free(regex);
    return NULL;
}

void regex_free(struct regex *regex)
{
    if (!regex)
        return;
    pcre2_match_context_free(regex->context);
    pcre2_match_data_free(regex->data);
    pcre2_code_free(regex->code);
    pcre2_jit_stack_free(regex->stack);
    free(regex);
}

enum regex_end regex_find(struct regex *regex, const char *data, size_t length, size_t at,
                          size_t *from, size_t *to)
{
    int code =
        pcre2_match(regex->code, (PCRE2_SPTR)data, length, at, 0, regex->data, regex->context);
    if (code >= 0) {
        const size_t *ends = pcre2_get_ovector_pointer(regex->data);
        *from = ends[0] < ends[1] ? ends[0] : ends[1]; /* \K may turn them round */
        *to = ends[0] < ends[1] ? ends[1] : ends[0];
        return REGEX_MATCH;
    }
    switch (code) {
    case PCRE2_ERROR_NOMATCH:
        return REGEX_NONE;
    case PCRE2_ERROR_CALLOUT:
        return regex->stopped;
    case PCRE2_ERROR_NOMEMORY:
        return REGEX_NO_MEMORY;
    default: /* limits of backtracking, of the heap, of the stack */
        return REGEX_TOO_MUCH;
    }
}
