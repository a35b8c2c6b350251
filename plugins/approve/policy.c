#include "policy.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct policy {
    json_t *document; /* checked: everything below can rely on its form */
    const json_t *rules;
    enum decision fallback;
};

/* ---- globs ---- */

static size_t character_length(const char *text, size_t left)
{
    size_t length = 1;
    while (length < left && ((unsigned char)text[length] & 0xc0) == 0x80)
        length++;
    return length;
}

/* Only the last `*` has to be tried again: what one before it took, the last can take too. */
bool glob_matches(const char *glob, size_t glob_length, const char *text, size_t text_length)
{
    size_t g = 0, t = 0, star = SIZE_MAX, star_text = 0;
    while (t < text_length) {
        if (g < glob_length && glob[g] == '*') {
            star = ++g;
            star_text = t;
        } else if (g < glob_length && glob[g] == '?') {
            g++;
            t += character_length(text + t, text_length - t);
        } else if (g + 1 < glob_length && glob[g] == '\\' && glob[g + 1] == text[t]) {
            g += 2;
            t++;
        } else if (g < glob_length && glob[g] != '\\' && glob[g] == text[t]) {
            g++;
            t++;
        } else if (star != SIZE_MAX) {
            g = star;
            t = ++star_text;
        } else {
            return false;
        }
    }
    while (g < glob_length && glob[g] == '*')
        g++;
    return g == glob_length;
}

/* ---- deciding ---- */

static bool text_matches(const json_t *globs, const char *text, size_t length)
{
    if (json_is_string(globs))
        return glob_matches(json_string_value(globs), json_string_length(globs), text, length);
    for (size_t i = 0; i < json_array_size(globs); i++)
        if (text_matches(json_array_get(globs, i), text, length))
            return true;
    return false;
}

/* A string is matched as it is, everything else as its JSON text.  Without memory for that,
 * *failed is set: what cannot be judged must not pass a rule that would deny it. */
static bool value_matches(const json_t *globs, const json_t *value, bool *failed)
{
    if (!value)
        return false;
    if (json_is_string(value))
        return text_matches(globs, json_string_value(value), json_string_length(value));
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
    *failed |= !text;
    bool matches = text && text_matches(globs, text, strlen(text));
    free(text);
    return matches;
}

static bool rule_matches(const json_t *rule, const char *tool, const json_t *arguments,
                         bool *failed)
{
    const char *name;
    json_t *globs, *wanted = json_object_get(rule, "arguments");
    if (!text_matches(json_object_get(rule, "tool"), tool, strlen(tool)))
        return false;
    json_object_foreach (wanted, name, globs) {
        if (!value_matches(globs, json_object_get(arguments, name), failed))
            return false;
    }
    return true;
}

static enum decision decision_of(const json_t *word)
{
    const char *text = json_string_value(word);
    return !strcmp(text, "allow") ? DECISION_ALLOW
           : !strcmp(text, "ask") ? DECISION_ASK
                                  : DECISION_DENY;
}

enum decision policy_decide(const struct policy *policy, const char *tool, const json_t *arguments,
                            int *rule, const char **reason)
{
    bool failed = false;
    *rule = NO_RULE;
    *reason = NULL;
    for (size_t i = 0; i < json_array_size(policy->rules); i++) {
        const json_t *found = json_array_get(policy->rules, i);
        bool matches = rule_matches(found, tool, arguments, &failed);
        if (failed)
            return DECISION_DENY;
        if (!matches)
            continue;
        *rule = (int)i;
        *reason = json_string_value(json_object_get(found, "reason"));
        return decision_of(json_object_get(found, "decision"));
    }
    return policy->fallback;
}

/* ---- checking the form ---- */

/* Where a complaint goes, and which rule it is about. */
struct complaint {
    char *why;
    size_t size;
    char rule[160]; /* "rule 2 (deny run_*)"; "" outside of rules */
};

static bool complain(const struct complaint *about, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool complain(const struct complaint *about, const char *format, ...)
{
    va_list args;
    int length = snprintf(about->why, about->size, "%s%s", about->rule, about->rule[0] ? ": " : "");
    if (length < 0 || (size_t)length >= about->size)
        return false;
    va_start(args, format);
    vsnprintf(about->why + length, about->size - (size_t)length, format, args);
    va_end(args);
    return false;
}

static bool has_only(json_t *object, const char *const *known, const char *what,
                     const struct complaint *about)
{
    const char *key;
    json_t *value;
    bool ok = json_is_object(object) || complain(about, "%s is no object", what);
    json_object_foreach (object, key, value) {
        const char *const *name = known;
        while (*name && strcmp(*name, key) != 0)
            name++;
        if (!*name)
            ok = complain(about, "%s has a member '%s', which is not known", what, key);
    }
    return ok;
}

static bool is_decision(const json_t *word)
{
    const char *text = json_string_value(word);
    return text && (!strcmp(text, "allow") || !strcmp(text, "ask") || !strcmp(text, "deny"));
}

static bool is_globs(const json_t *value)
{
    size_t count = json_array_size(value);
    for (size_t i = 0; i < count; i++)
        if (!json_is_string(json_array_get(value, i)))
            return false;
    return json_is_string(value) || count > 0;
}

static bool check_examples(const json_t *rule, const char *list, const struct complaint *about)
{
    static const char *const known[] = {"tool", "arguments", NULL};
    const json_t *examples = json_object_get(rule, list);
    if (examples && !json_is_array(examples))
        return complain(about, "'%s' is no list of calls", list);
    for (size_t i = 0; i < json_array_size(examples); i++) {
        json_t *example = json_array_get(examples, i);
        const json_t *arguments = json_object_get(example, "arguments");
        if (!has_only(example, known, "an example", about))
            return false;
        if (!json_is_string(json_object_get(example, "tool")) ||
            (arguments && !json_is_object(arguments)))
            return complain(about,
                            "example %zu of '%s' is no call: it has a \"tool\" and may "
                            "have \"arguments\"",
                            i + 1, list);
    }
    return true;
}

static bool check_rule(json_t *rule, const struct complaint *about)
{
    static const char *const known[] = {"decision", "tool",      "arguments", "reason",
                                        "match",    "not_match", NULL};
    const char *name;
    json_t *globs, *arguments = json_object_get(rule, "arguments");
    const json_t *reason = json_object_get(rule, "reason");
    if (!has_only(rule, known, "it", about))
        return false;
    if (!is_decision(json_object_get(rule, "decision")))
        return complain(about, "'decision' is none of allow, ask and deny");
    if (!is_globs(json_object_get(rule, "tool")))
        return complain(about, "'tool' is no pattern or list of patterns");
    if (arguments && !json_is_object(arguments))
        return complain(about, "'arguments' is no object of patterns");
    json_object_foreach (arguments, name, globs) {
        if (!is_globs(globs))
            return complain(about, "'arguments.%s' is no pattern or list of patterns", name);
    }
    if (reason && !json_is_string(reason))
        return complain(about, "'reason' is no text");
    return check_examples(rule, "match", about) && check_examples(rule, "not_match", about);
}

/* ---- checking the examples ---- */

/* A call of "match" must be decided by this rule; one of "not_match" must not match it. */
static bool try_examples(const struct policy *policy, int place, const json_t *rule,
                         const struct complaint *about)
{
    const json_t *match = json_object_get(rule, "match");
    const json_t *not_match = json_object_get(rule, "not_match");
    bool failed = false;
    for (size_t i = 0; i < json_array_size(match); i++) {
        const json_t *example = json_array_get(match, i);
        const json_t *arguments = json_object_get(example, "arguments");
        const char *tool = json_string_value(json_object_get(example, "tool")), *reason;
        int decided;
        if (!rule_matches(rule, tool, arguments, &failed))
            return complain(about, "it does not match example %zu of its 'match'", i + 1);
        policy_decide(policy, tool, arguments, &decided, &reason);
        if (decided != place)
            return complain(about, "example %zu of its 'match' is decided by rule %d before it",
                            i + 1, decided + 1);
    }
    for (size_t i = 0; i < json_array_size(not_match); i++) {
        const json_t *example = json_array_get(not_match, i);
        if (rule_matches(rule, json_string_value(json_object_get(example, "tool")),
                         json_object_get(example, "arguments"), &failed))
            return complain(about, "it matches example %zu of its 'not_match'", i + 1);
    }
    return !failed || complain(about, "out of memory");
}

static void name_rule(struct complaint *about, size_t place, const json_t *rule)
{
    const char *decision = json_string_value(json_object_get(rule, "decision"));
    const char *tool = json_string_value(json_object_get(rule, "tool"));
    snprintf(about->rule, sizeof(about->rule), "rule %zu%s%.10s%s%.64s%s", place + 1,
             decision ? " (" : "", decision ? decision : "", decision && tool ? " " : "",
             decision && tool ? tool : "", decision ? ")" : "");
}

static bool check(struct policy *policy, struct complaint *about)
{
    static const char *const known[] = {"default", "rules", NULL};
    const json_t *fallback = json_object_get(policy->document, "default");
    policy->rules = json_object_get(policy->document, "rules");
    policy->fallback = DECISION_ASK;
    if (!has_only(policy->document, known, "the policy", about))
        return false;
    if (fallback && !is_decision(fallback))
        return complain(about, "'default' is none of allow, ask and deny");
    if (fallback)
        policy->fallback = decision_of(fallback);
    if (policy->rules && !json_is_array(policy->rules))
        return complain(about, "'rules' is no list");
    for (size_t i = 0; i < json_array_size(policy->rules); i++) {
        json_t *rule = json_array_get(policy->rules, i);
        name_rule(about, i, rule);
        if (!check_rule(rule, about))
            return false;
    }
    for (size_t i = 0; i < json_array_size(policy->rules); i++) {
        json_t *rule = json_array_get(policy->rules, i);
        name_rule(about, i, rule);
        if (!try_examples(policy, (int)i, rule, about))
            return false;
    }
    return true;
}

struct policy *policy_read(const char *json, size_t length, char *why, size_t why_size)
{
    json_error_t error;
    struct complaint about = {.why = why, .size = why_size};
    struct policy *policy = calloc(1, sizeof(*policy));
    if (!policy) {
        snprintf(why, why_size, "out of memory");
        return NULL;
    }
    policy->document = json_loadb(json, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!policy->document)
        complain(&about, "line %d: %s", error.line, error.text);
    if (policy->document && check(policy, &about))
        return policy;
    policy_free(policy);
    return NULL;
}

void policy_free(struct policy *policy)
{
    if (!policy)
        return;
    json_decref(policy->document);
    free(policy);
}
