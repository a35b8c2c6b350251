#include "service/memory_terms.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum letters {
    LETTERS_NONE,
    LETTERS_SPACED,
    LETTERS_HAN,
    LETTERS_KATAKANA,
    LETTERS_HIRAGANA,
    LETTERS_JOINED
};

/* ---- kinds of characters ---- */

/* The first character, of `*bytes` bytes.  The text is valid. */
static uint32_t first_character(const char *text, size_t *bytes)
{
    unsigned char lead = (unsigned char)text[0];
    *bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    uint32_t character = *bytes == 1 ? lead : lead & (0x7Fu >> *bytes);
    for (size_t i = 1; i < *bytes; i++)
        character = character << 6 | ((unsigned char)text[i] & 0x3F);
    return character;
}

/* Sorted; what is in none of them and not ASCII is a letter of a language with spaces. */
static const struct {
    uint32_t first, last;
    enum letters letters;
} ranges[] = {
    {0x0080, 0x00A9, LETTERS_NONE},     {0x00AB, 0x00B1, LETTERS_NONE},
    {0x00B4, 0x00B4, LETTERS_NONE},     {0x00B6, 0x00B8, LETTERS_NONE},
    {0x00BB, 0x00BF, LETTERS_NONE},     {0x0E00, 0x0EFF, LETTERS_JOINED}, /* Thai, Lao */
    {0x1000, 0x109F, LETTERS_JOINED},                                     /* Myanmar */
    {0x1780, 0x17FF, LETTERS_JOINED},                                     /* Khmer */
    {0x2000, 0x206F, LETTERS_NONE}, /* dashes, quotes, blanks */
    {0x2190, 0x2BFF, LETTERS_NONE}, /* arrows, boxes, symbols */
    {0x2E00, 0x2E7F, LETTERS_NONE},     {0x2E80, 0x2FDF, LETTERS_HAN},
    {0x3000, 0x3004, LETTERS_NONE},     {0x3005, 0x3007, LETTERS_HAN},
    {0x3008, 0x3020, LETTERS_NONE},     {0x3030, 0x3030, LETTERS_NONE},
    {0x3041, 0x309F, LETTERS_HIRAGANA}, {0x30A0, 0x30A0, LETTERS_NONE},
    {0x30A1, 0x30FA, LETTERS_KATAKANA}, {0x30FB, 0x30FB, LETTERS_NONE},
    {0x30FC, 0x30FF, LETTERS_KATAKANA}, {0x31F0, 0x31FF, LETTERS_KATAKANA},
    {0x3400, 0x4DBF, LETTERS_HAN},      {0x4E00, 0x9FFF, LETTERS_HAN},
    {0xAC00, 0xD7AF, LETTERS_JOINED}, /* Korean */
    {0xF900, 0xFAFF, LETTERS_HAN},      {0xFE10, 0xFE6F, LETTERS_NONE},
    {0xFF00, 0xFF0F, LETTERS_NONE},     {0xFF1A, 0xFF20, LETTERS_NONE},
    {0xFF3B, 0xFF40, LETTERS_NONE},     {0xFF5B, 0xFF65, LETTERS_NONE},
    {0xFF66, 0xFF9F, LETTERS_KATAKANA}, {0xFFE0, 0xFFFF, LETTERS_NONE},
    {0x1F000, 0x1FAFF, LETTERS_JOINED}, /* pictures */
    {0x20000, 0x3FFFF, LETTERS_HAN},
};

static enum letters letters_of(uint32_t character)
{
    if (character < 0x80) /* "C++" and "C#" are words */
        return isalnum((int)character) || strchr("_+#", (int)character) ? LETTERS_SPACED
                                                                        : LETTERS_NONE;
    for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges) && ranges[i].first <= character; i++)
        if (character <= ranges[i].last)
            return ranges[i].letters;
    return LETTERS_SPACED;
}

/* ---- terms ---- */

static void add(struct memory_terms *terms, const struct memory_term *term)
{
    for (size_t i = 0; i < terms->count; i++)
        if (terms->items[i].length == term->length &&
            memcmp(terms->items[i].text, term->text, term->length) == 0)
            return;
    if (terms->count < MEMORY_TERMS_MAX)
        terms->items[terms->count++] = *term;
}

/* Particles and the like are everywhere: they order what was found, and hardly more. */
static double weight_of(const struct memory_term *run, enum letters letters)
{
    if (run->characters >= 3)
        return 1;
    return letters == LETTERS_HIRAGANA ? 0.1 : letters == LETTERS_SPACED ? 0.25 : 1;
}

static void add_threes(struct memory_terms *terms, const struct memory_term *run)
{
    size_t count = run->characters - 2, bytes, more;
    const char *at = run->text;
    for (size_t i = 0; i < count; i++, at += bytes) {
        struct memory_term three = {.text = at, .characters = 3, .weight = 1 / (double)count};
        first_character(at, &bytes);
        three.length = bytes;
        for (int j = 1; j < 3; j++, three.length += more)
            first_character(at + three.length, &more);
        add(terms, &three);
    }
}

static void add_run(struct memory_terms *terms, struct memory_term *run, enum letters letters)
{
    if (run->length && letters != LETTERS_NONE) {
        run->is_word = letters == LETTERS_SPACED;
        run->weight = weight_of(run, letters);
        if (run->is_word || run->characters <= 3)
            add(terms, run);
        else
            add_threes(terms, run);
    }
    *run = (struct memory_term){.text = run->text + run->length};
}

static void add_whole(struct memory_terms *terms, const char *query, size_t length)
{
    while (length && isspace((unsigned char)query[length - 1]))
        length--;
    while (length && isspace((unsigned char)*query)) {
        query++;
        length--;
    }
    if (length)
        add(terms, &(struct memory_term){.text = query, .length = length, .weight = 1});
}

void memory_terms_find(struct memory_terms *terms, const char *query, size_t length)
{
    struct memory_term run = {.text = query};
    enum letters letters = LETTERS_NONE;
    terms->count = 0;
    for (size_t at = 0, bytes; at < length; at += bytes) {
        enum letters next = letters_of(first_character(query + at, &bytes));
        if (next != letters)
            add_run(terms, &run, letters);
        letters = next;
        run.length += bytes;
        run.characters++;
    }
    add_run(terms, &run, letters);
    if (!terms->count)
        add_whole(terms, query, length);
}

/* ---- what is too short for the index ---- */

static bool is_word_byte(const char *text, size_t length, size_t at)
{
    return at < length && (isalnum((unsigned char)text[at]) || (unsigned char)text[at] >= 0x80);
}

bool memory_term_is_in(const struct memory_term *term, const char *text, size_t length)
{
    if (!term->is_word)
        return memmem(text, length, term->text, term->length);
    for (size_t at = 0; at + term->length <= length; at++)
        if (strncasecmp(text + at, term->text, term->length) == 0 &&
            (at == 0 || !is_word_byte(text, length, at - 1)) &&
            !is_word_byte(text, length, at + term->length))
            return true;
    return false;
}
