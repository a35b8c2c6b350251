#include "config/setting_value.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "auto, always or never" for "auto|always|never". */
static void list_words(const char *words, char *out, size_t size)
{
    size_t used = 0;
    for (const char *word = words; *word && used < size;) {
        size_t length = strcspn(word, "|");
        const char *rest = word + length + (word[length] == '|');
        const char *lead = word == words ? "" : strchr(rest - 1, '|') || *rest ? ", " : " or ";
        int n = snprintf(out + used, size - used, "%s%.*s", lead, (int)length, word);
        used += n > 0 ? (size_t)n : size;
        word = rest;
    }
}

static bool check_choice(const char *words, const char *text, struct error *error)
{
    char list[128];
    for (const char *word = words; *word;) {
        size_t length = strcspn(word, "|");
        if (strlen(text) == length && memcmp(word, text, length) == 0)
            return true;
        word += length + (word[length] == '|');
    }
    list_words(words, list, sizeof(list));
    return error_set(error, ERROR_USAGE, "'%s' is not %s", text, list);
}

static bool check(const struct setting_definition *definition, const char *text,
                  struct error *error)
{
    char *end;
    errno = 0;
    switch (definition->kind) {
    case SETTING_FLAG:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
            return error_set(error, ERROR_USAGE, "'%s' must be true or false", text);
        return true;
    case SETTING_COUNT:
        if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
            return true;
        /* fall through */
    case SETTING_WHOLE: {
        long long whole = strtoll(text, &end, 10);
        if (end == text || *end || errno || whole < 0)
            return error_set(error, ERROR_USAGE, "'%s' must be a whole number from 0 up", text);
        return true;
    }
    case SETTING_NUMBER: {
        double number = strtod(text, &end);
        if (end == text || *end || !isfinite(number) || number < 0)
            return error_set(error, ERROR_USAGE, "'%s' must be a number from 0 up", text);
        return true;
    }
    case SETTING_CHOICE:
        return check_choice(definition->metavariable, text, error);
    case SETTING_TEXT:
    case SETTING_LIST:
    case SETTING_TEXTS:
        break;
    }
    return true;
}

static bool push(struct setting_value *value, const char *text, struct error *error)
{
    char **items = realloc(value->items, (value->count + 2) * sizeof(*items));
    if (!items)
        return error_memory(error);
    value->items = items;
    char *copy = strdup(text);
    if (!copy) {
        items[value->count] = NULL;
        return error_memory(error);
    }
    items[value->count++] = copy;
    items[value->count] = NULL;
    return true;
}

bool setting_is_list(enum setting_id id)
{
    enum setting_kind kind = setting_definitions[id].kind;
    return kind == SETTING_LIST || kind == SETTING_TEXTS;
}

bool setting_value_add(struct setting_value *value, enum setting_id id, enum setting_source source,
                       const char *text, struct error *error)
{
    const struct setting_definition *definition = &setting_definitions[id];
    char count[24];
    if (!check(definition, text, error))
        return false;
    if (definition->kind == SETTING_COUNT && strcmp(text, "true") == 0) {
        long long so_far = value->count ? strtoll(value->items[0], NULL, 10) : 0;
        snprintf(count, sizeof(count), "%lld", so_far + 1);
        text = count;
    } else if (definition->kind == SETTING_COUNT && strcmp(text, "false") == 0) {
        text = "0";
    }
    if (!setting_is_list(id))
        setting_value_clear(value);
    value->source = source;
    return push(value, text, error);
}

void setting_value_clear(struct setting_value *value)
{
    for (size_t i = 0; i < value->count; i++)
        free(value->items[i]);
    free(value->items);
    *value = (struct setting_value){0};
}
