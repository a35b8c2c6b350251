#include "provider/offline_pick.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"

#define MAX_WORDS  256
#define STEM_BYTES 32
#define ENOUGH     2 /* the score of a tool that is called */

/* ---- words ---- */

struct word {
    const char *data;
    size_t length;
    bool quoted;
    bool first; /* of a sentence: its capital says nothing */
    bool last;  /* punctuation follows: a name ends here */
    bool used;  /* it has become an argument */
};

struct prompt {
    struct word words[MAX_WORDS];
    size_t count;
};

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* The byte behind the quote that closes the one at `text`, or NULL.  An apostrophe inside a
 * word closes nothing. */
static const char *closing_quote(const char *text)
{
    if (*text != '"' && *text != '\'')
        return NULL;
    const char *end = strchr(text + 1, *text);
    while (end && is_letter(end[1]))
        end = strchr(end + 1, *text);
    return end;
}

static void split(struct prompt *prompt, const char *text)
{
    bool first = true;
    while (prompt->count < MAX_WORDS && *(text += strspn(text, " \t\r\n([{<"))) {
        const char *end = closing_quote(text);
        size_t length = end ? (size_t)(end - text) + 1 : strcspn(text, " \t\r\n");
        size_t kept = length;
        while (!end && kept && strchr(".,;:!?)]}>\"'", text[kept - 1]))
            kept--;
        struct word word = {.data = text, .length = kept, .first = first, .last = kept < length};
        if (end)
            word = (struct word){.data = text + 1, .length = length - 2, .quoted = true};
        first = !end && strcspn(text + kept, ".!?") < length - kept;
        if (word.length)
            prompt->words[prompt->count++] = word;
        text += length;
    }
}

/* `list` is words with a space before and behind each. */
static bool is_word(const struct word *word, const char *list)
{
    for (const char *at = list; (at = strchr(at, ' ')) && at[1]; at++)
        if (!strncasecmp(at + 1, word->data, word->length) && at[1 + word->length] == ' ')
            return true;
    return false;
}

/* Words that say nothing about what is wanted. */
static bool is_filler(const struct word *word)
{
    return is_word(word, " a an and are at be by called can could do does for from give hello hi "
                         "how i in is it me my named of on or please show tell that the this to "
                         "use we what what's when where which who will with you your ");
}

/* "Multiplied" and "multiply" have one stem, "multipl". */
static size_t stem(char out[STEM_BYTES], const char *data, size_t length)
{
    static const char *const endings[] = {"ing", "ied", "ies", "ed", "es", "s", "e", "y"};
    if (length >= STEM_BYTES)
        length = STEM_BYTES - 1;
    for (size_t i = 0; i < length; i++)
        out[i] = (char)tolower((unsigned char)data[i]);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t ending = strlen(endings[i]);
        if (length >= ending + 3 && !memcmp(out + length - ending, endings[i], ending)) {
            length -= ending;
            i = (size_t)-1; /* "multiplying": once more */
        }
    }
    return length;
}

static bool is_related(const char *a, size_t a_length, const struct word *word)
{
    char left[STEM_BYTES], right[STEM_BYTES];
    size_t left_length = stem(left, a, a_length);
    size_t right_length = stem(right, word->data, word->length);
    size_t shorter = left_length < right_length ? left_length : right_length;
    bool is_start = shorter > 0 && !memcmp(left, right, shorter);
    return is_start && (left_length == right_length || shorter >= 5);
}

static bool is_exactly(const struct word *word, const char *name)
{
    return strlen(name) == word->length && !strncasecmp(name, word->data, word->length);
}

/* Whether some word of a name or a description is related to `word`. */
static bool mentions(const char *text, const struct word *word)
{
    while (text && *text) {
        size_t length = 0;
        while (is_letter(text[length]))
            length++;
        if (length && is_related(text, length, word))
            return true;
        text += length ? length : 1;
    }
    return false;
}

/* ---- which tool ---- */

/* The choice of an enumeration that `word` means, or NULL. */
static const char *find_choice(const json_t *property, const struct word *word)
{
    const json_t *choices = json_object_get(property, "enum");
    for (size_t i = 0; i < json_array_size(choices); i++) {
        const char *name = json_string_value(json_array_get(choices, i));
        if (name && is_related(name, strlen(name), word))
            return name;
    }
    return NULL;
}

static unsigned score_word(const struct pick *pick, const struct word *word)
{
    if (is_exactly(word, pick->tool->name))
        return 10;
    if (word->quoted || is_filler(word))
        return 0;
    if (mentions(pick->tool->name, word))
        return 3;
    bool is_mentioned = mentions(pick->tool->description, word);
    const char *name;
    json_t *property;
    json_object_foreach(pick->properties, name, property)
    {
        if (find_choice(property, word))
            return 2;
        is_mentioned |= mentions(name, word);
    }
    return is_mentioned;
}

/* The tool with the best score, if that is good enough. */
static struct pick choose(const struct toolset *tools, const struct prompt *prompt)
{
    struct pick best = {.score = ENOUGH - 1};
    for (size_t i = 0; tools && i < tools->count; i++) {
        struct pick pick = {.tool = &tools->items[i]};
        const char *schema = pick.tool->schema ? pick.tool->schema : "{}";
        pick.schema = json_parse(schema, strlen(schema), NULL, NULL);
        pick.properties = json_object_get(pick.schema, "properties");
        for (size_t j = 0; j < prompt->count; j++)
            pick.score += score_word(&pick, &prompt->words[j]);
        bool is_better = pick.score > best.score;
        json_decref(is_better ? best.schema : pick.schema);
        if (is_better)
            best = pick;
    }
    return best;
}

/* ---- its arguments ---- */

bool pick_is_type(const json_t *property, const char *type)
{
    const json_t *types = json_object_get(property, "type");
    if (json_is_array(types)) /* ["string", "null"] */
        types = json_array_get(types, 0);
    return json_is_string(types) && !strcmp(json_string_value(types), type);
}

/* One word as a value of the property's type, or NULL. */
static json_t *convert(const json_t *property, const struct word *word)
{
    if (json_object_get(property, "enum")) {
        const char *choice = find_choice(property, word);
        return choice ? json_string(choice) : NULL;
    }
    if (pick_is_type(property, "string"))
        return json_stringn(word->data, word->length);
    json_t *value = json_parse(word->data, word->length, NULL, NULL);
    bool fits = pick_is_type(property, "integer") ? json_is_integer(value)
                : pick_is_type(property, "number")
                    ? json_is_number(value)
                    : pick_is_type(property, "boolean") && json_is_boolean(value);
    if (fits)
        return value;
    json_decref(value);
    return NULL;
}

/* What was written as NAME=VALUE. */
static json_t *take_named(struct prompt *prompt, const char *name, const json_t *property)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < prompt->count; i++) {
        struct word *word = &prompt->words[i];
        if (word->length <= length + 1 || word->data[length] != '=' ||
            strncasecmp(word->data, name, length) != 0)
            continue;
        word->used = true;
        struct word value = {.data = word->data + length + 1, .length = word->length - length - 1};
        return convert(property, &value);
    }
    return NULL;
}

/* The first free word that is a value of the type: for numbers and choices. */
static json_t *take_value(struct prompt *prompt, const json_t *property)
{
    for (size_t i = 0; i < prompt->count; i++) {
        struct word *word = &prompt->words[i];
        json_t *value = word->used || word->quoted ? NULL : convert(property, word);
        if (!value)
            continue;
        word->used = true;
        return value;
    }
    return NULL;
}

/* The words from `first` to `last` as they stand in the prompt. */
static json_t *take_words(struct word *first, struct word *last)
{
    for (struct word *word = first; word <= last; word++)
        word->used = true;
    return json_stringn(first->data, (size_t)(last->data + last->length - first->data));
}

static bool is_free(const struct word *word, const struct pick *pick)
{
    return !word->used && !word->quoted && !is_filler(word) &&
           !memchr(word->data, '=', word->length) && !mentions(pick->tool->name, word);
}

/* Letters beyond ASCII count: many scripts have no capitals. */
static bool is_capitalised(const struct word *word)
{
    return isupper((unsigned char)*word->data) || (unsigned char)*word->data >= 0x80;
}

static json_t *take_quoted(struct prompt *prompt)
{
    for (size_t i = 0; i < prompt->count; i++)
        if (prompt->words[i].quoted && !prompt->words[i].used)
            return take_words(&prompt->words[i], &prompt->words[i]);
    return NULL;
}

/* "Tokyo", "New York". */
static json_t *take_name(struct prompt *prompt, const struct pick *pick, bool at_start)
{
    for (size_t i = 0; i < prompt->count; i++) {
        struct word *first = &prompt->words[i], *last = first;
        if (first->first != at_start || !is_capitalised(first) || !is_free(first, pick))
            continue;
        const struct word *end = prompt->words + prompt->count;
        while (!last->last && last + 1 < end && is_capitalised(last + 1) && is_free(last + 1, pick))
            last++;
        return take_words(first, last);
    }
    return NULL;
}

static json_t *take_object(struct prompt *prompt, const struct pick *pick)
{
    for (size_t i = 1; i < prompt->count; i++)
        if (is_word(&prompt->words[i - 1], " in for to at of named called ") &&
            is_free(&prompt->words[i], pick))
            return take_words(&prompt->words[i], &prompt->words[i]);
    return NULL;
}

static json_t *take_text(struct prompt *prompt, const struct pick *pick)
{
    json_t *value = take_quoted(prompt);
    if (!value)
        value = take_name(prompt, pick, false);
    if (!value)
        value = take_object(prompt, pick);
    return value ? value : take_name(prompt, pick, true);
}

bool pick_requires(const struct pick *pick, const char *name)
{
    const json_t *required = json_object_get(pick->schema, "required");
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *entry = json_string_value(json_array_get(required, i));
        if (entry && !strcmp(entry, name))
            return true;
    }
    return false;
}

/* An optional text gets only what can hardly be meant otherwise. */
static json_t *find_value(struct prompt *prompt, const struct pick *pick, const char *name,
                          const json_t *property, bool required)
{
    json_t *value = take_named(prompt, name, property);
    if (value)
        return value;
    if (!pick_is_type(property, "string") || json_object_get(property, "enum"))
        value = take_value(prompt, property);
    else
        value = required ? take_text(prompt, pick) : take_quoted(prompt);
    if (!value && required)
        value = json_deep_copy(json_object_get(property, "default"));
    return value || !required || !pick_is_type(property, "boolean") ? value : json_false();
}

/* Returns the first required argument that could not be found, or NULL. */
static const char *fill(struct prompt *prompt, const struct pick *pick)
{
    const char *name, *missing = NULL;
    json_t *property;
    for (int required = 1; required >= 0; required--)
        json_object_foreach(pick->properties, name, property)
        {
            if (pick_requires(pick, name) != (required == 1))
                continue;
            json_t *value = find_value(prompt, pick, name, property, required);
            bool found = value && json_object_set_new(pick->arguments, name, value) == 0;
            if (!found && required && !missing)
                missing = name;
        }
    return missing;
}

/* ---- both together ---- */

struct pick pick_tool(const struct toolset *tools, const char *text)
{
    struct prompt prompt = {.count = 0};
    split(&prompt, text);
    struct pick pick = choose(tools, &prompt);
    if (pick.tool) {
        pick.arguments = json_object();
        pick.missing = fill(&prompt, &pick);
    }
    return pick;
}

void pick_release(struct pick *pick)
{
    json_decref(pick->arguments);
    json_decref(pick->schema);
    *pick = (struct pick){0};
}
