#include "provider/overflow.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/*
 * How servers put it.  A pattern may begin anywhere in a message; %l, %i and %o are the numbers of
 * the struct, %t is input and output together, %* is anything.  The first one that fits decides.
 * (vLLM counts some prompts only as far as it must: "at least" is no number to reckon with.)
 */
static const char *const patterns[] = {
    "exceed context limit: %i + %o > %l",
    "prompt is too long: %i tokens > %l",
    "is too large: %o. this model's maximum context length is %l tokens and your request has %i "
    "input tokens",
    "maximum context length is %l tokens%*requested %t tokens (%*%o in the completion",
    "maximum context length is %l tokens%*requested about %t tokens (%*%o in the output",
    "maximum context length is %l tokens%*requested %o output tokens and your prompt contains %i "
    "input tokens",
    "maximum context length is %l tokens%*requested %o output tokens",
    "maximum context length is %l tokens%*resulted in %i tokens",
    "maximum context length is %l tokens",
    "input token count (%i) exceeds the maximum number of tokens allowed (%l)",
    "exceeds the maximum number of tokens allowed (%l)",
    "request (%i tokens) exceeds the available context size (%l tokens",
    "maximum prompt length is %l but the request contains %i tokens",
    "prompt contains %i tokens%*too large for model with %l maximum context length",
    "input tokens exceed the configured limit of %l tokens%*resulted in %i tokens",
    "prompt token count of %i exceeds the limit of %l",
    "must be <= %l. given: %i `inputs` tokens and %o `max_new_tokens`",
    "exceeded model token limit: %l (requested: %i)",
    "max input tokens: %l, request input token count: %i",
    "cannot exceed %l - received %i",
    "limit %l, requested %i",
    "keep the first %i tokens when context the overflows%*context length of only %l tokens",
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits, perhaps in groups ("128,000").  NULL: there are none, or too many. */
static const char *read_number(const char *at, int64_t *number)
{
    const int64_t most = INT64_C(1) << 40;
    if (!is_digit(*at))
        return NULL;
    for (*number = 0; *number < most; at++) {
        if (is_digit(*at))
            *number = *number * 10 + (*at - '0');
        else if (*at != ',' || !is_digit(at[1]))
            return at;
    }
    return NULL;
}

struct reading {
    int64_t limit, input, output, total;
};

static int64_t *place_of(struct reading *reading, char name)
{
    switch (name) {
    case 'l':
        return &reading->limit;
    case 'i':
        return &reading->input;
    case 'o':
        return &reading->output;
    default:
        return &reading->total;
    }
}

/* Whether the pattern fits from here on. */
static bool fits(const char *pattern, const char *at, struct reading *reading)
{
    for (; *pattern; pattern++) {
        if (*pattern != '%') {
            if (strncasecmp(pattern, at, 1) != 0)
                return false;
            at++;
            continue;
        }
        if (*++pattern == '*') {
            for (; *at; at++)
                if (fits(pattern + 1, at, reading))
                    return true;
            return false;
        }
        at = read_number(at, place_of(reading, *pattern));
        if (!at)
            return false;
    }
    return true;
}

void overflow_read(struct overflow *overflow, const char *message)
{
    *overflow = (struct overflow){-1, -1, -1};
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        for (const char *at = message; *at; at++) {
            struct reading reading = {-1, -1, -1, -1};
            if (!fits(patterns[i], at, &reading))
                continue;
            if (reading.total >= 0 && reading.total >= reading.output)
                reading.input = reading.total - reading.output;
            *overflow = (struct overflow){reading.limit, reading.input, reading.output};
            return;
        }
    }
}
