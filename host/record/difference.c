#include "record/difference.h"

#include <string.h>

#include "base/json_check.h"
#include "base/utf8.h"

/* How deep it is looked into, and how much is shown of a text around the place. */
enum { MOST_DEPTH = 64, SHOWN_BEFORE = 20, SHOWN = 60 };

struct search {
    struct text path;
    struct text *out;
};

static bool is_same(struct json_piece a, struct json_piece b)
{
    return a.length == b.length && (!a.length || memcmp(a.data, b.data, a.length) == 0);
}

/* ---- what is told ---- */

static void show(struct text *out, struct json_piece piece, size_t at)
{
    struct text clean = TEXT_INIT;
    size_t start = at > SHOWN_BEFORE ? at - SHOWN_BEFORE : 0;
    size_t end = start + SHOWN < piece.length ? start + SHOWN : piece.length;
    if (!piece.length) {
        text_puts(out, "nothing");
        return;
    }
    while (start && ((unsigned char)piece.data[start] & 0xC0) == 0x80)
        start--;
    utf8_append_clean(&clean, piece.data + start, end - start);
    text_puts(out, start ? "…" : "");
    text_append(out, text_cstr(&clean), clean.length);
    text_puts(out, end < piece.length ? "…" : "");
    out->failed |= clean.failed;
    text_release(&clean);
}

static size_t first_byte(struct json_piece a, struct json_piece b)
{
    size_t at = 0;
    while (at < a.length && at < b.length && a.data[at] == b.data[at])
        at++;
    return at;
}

static void tell(struct search *search, struct json_piece recorded, struct json_piece now)
{
    size_t at = first_byte(recorded, now);
    text_printf(search->out, "at %s", text_cstr(&search->path));
    if (at && recorded.length && now.length)
        text_printf(search->out, ", byte %zu", at);
    text_puts(search->out, ": recorded ");
    show(search->out, recorded, at);
    text_puts(search->out, ", now ");
    show(search->out, now, at);
}

/* ---- the search ---- */

/* Into the next entry of both; the path is that of the entry until it is cut back. */
static void enter(struct search *search, bool is_list, size_t index, struct json_piece key)
{
    if (is_list)
        text_printf(&search->path, "[%zu]", index);
    else
        text_printf(&search->path, ".%.*s", key.length > 1 ? (int)key.length - 2 : 0,
                    key.length > 1 ? key.data + 1 : "");
}

static bool find(struct search *search, struct json_piece a, struct json_piece b, int depth);

/* Whether two lists or two objects differ in an entry.  Members have an order here: a request
 * that has them in another one has other bytes. */
static bool find_inside(struct search *search, struct json_walk *a, struct json_walk *b,
                        bool is_list, int depth)
{
    size_t length = search->path.length;
    for (size_t index = 0;; index++) {
        struct json_piece key_a = {NULL, 0}, key_b = {NULL, 0}, value_a, value_b;
        bool more_a = json_walk_next(a, is_list ? NULL : &key_a, &value_a);
        bool more_b = json_walk_next(b, is_list ? NULL : &key_b, &value_b);
        if (!more_a && !more_b)
            return false;
        if (!more_a)
            value_a = key_a = (struct json_piece){NULL, 0};
        if (!more_b)
            value_b = key_b = (struct json_piece){NULL, 0};
        enter(search, is_list, index, more_a ? key_a : key_b);
        if (!is_same(key_a, key_b) || !more_a || !more_b)
            tell(search, more_a && more_b ? key_a : value_a, more_a && more_b ? key_b : value_b);
        else if (!find(search, value_a, value_b, depth + 1)) {
            search->path.length = length;
            if (search->path.data)
                search->path.data[length] = '\0';
            continue;
        }
        return true;
    }
}

static bool find(struct search *search, struct json_piece a, struct json_piece b, int depth)
{
    struct json_walk walk_a, walk_b;
    if (is_same(a, b))
        return false;
    for (const char *bracket = "{["; *bracket && depth < MOST_DEPTH; bracket++)
        if (json_walk_into(&walk_a, a, *bracket) && json_walk_into(&walk_b, b, *bracket) &&
            find_inside(search, &walk_a, &walk_b, *bracket == '[', depth))
            return true;
    tell(search, a, b); /* or only what stands between their entries */
    return true;
}

bool difference_find(struct json_piece recorded, struct json_piece now, struct text *out)
{
    struct search search = {.out = out};
    if (is_same(recorded, now))
        return false;
    text_puts(&search.path, "$");
    if (recorded.length && now.length && json_is_valid(recorded.data, recorded.length) &&
        json_is_valid(now.data, now.length))
        find(&search, recorded, now, 0);
    else
        tell(&search, recorded, now);
    out->failed |= search.path.failed;
    text_release(&search.path);
    return true;
}
