#include "schema/uri.h"

#include <stdbool.h>
#include <string.h>

struct span {
    const char *data; /* NULL: it is not there */
    size_t length;
};

struct parts {
    struct span scheme, authority, path, query;
};

static size_t until(struct span text, const char *ends)
{
    size_t at = 0;
    while (at < text.length && !(text.data[at] && strchr(ends, text.data[at])))
        at++;
    return at;
}

static struct span take(struct span *text, size_t length)
{
    struct span taken = {text->data, length};
    text->data += length;
    text->length -= length;
    return taken;
}

static struct parts split(struct span text)
{
    struct parts parts = {{NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}};
    text.length = until(text, "#");
    size_t colon = until(text, ":/?");
    if (colon && colon < text.length && text.data[colon] == ':') {
        parts.scheme = take(&text, colon);
        take(&text, 1);
    }
    if (text.length >= 2 && text.data[0] == '/' && text.data[1] == '/') {
        take(&text, 2);
        parts.authority = take(&text, until(text, "/?"));
    }
    parts.path = take(&text, until(text, "?"));
    if (text.length) {
        take(&text, 1);
        parts.query = text;
    }
    return parts;
}

static void put(struct text *out, struct span span)
{
    text_append(out, span.data, span.length);
}

/* Takes the last segment of the path that begins at `start` off, with its "/". */
static void drop_segment(struct text *out, size_t start)
{
    while (out->length > start && out->data[--out->length] != '/')
        ;
    if (out->data)
        out->data[out->length] = '\0';
}

static bool is_dots(struct span segment)
{
    return segment.length == 2 && segment.data[0] == '.' && segment.data[1] == '.';
}

static bool is_dot(struct span segment)
{
    return segment.length == 1 && segment.data[0] == '.';
}

/* Appends a path without its "." and ".." segments. */
static void put_path(struct text *out, struct span path)
{
    size_t start = out->length;
    while (path.length && !out->failed) {
        bool slash = path.data[0] == '/';
        if (slash)
            take(&path, 1);
        struct span segment = take(&path, until(path, "/"));
        if (is_dots(segment))
            drop_segment(out, start);
        if (is_dots(segment) || is_dot(segment)) {
            if (!path.length && (slash || out->length > start))
                text_putc(out, '/');
            continue;
        }
        if (slash)
            text_putc(out, '/');
        put(out, segment);
    }
}

/* The base's path up to its last "/", and the reference's. */
static void put_merged(struct text *out, const struct parts *base, struct span path)
{
    struct text merged = TEXT_INIT;
    size_t kept = base->path.length;
    while (kept && base->path.data[kept - 1] != '/')
        kept--;
    if (base->authority.data && !base->path.length)
        text_putc(&merged, '/');
    text_append(&merged, base->path.data, kept);
    put(&merged, path);
    out->failed |= merged.failed;
    put_path(out, (struct span){text_cstr(&merged), merged.length});
    text_release(&merged);
}

static void put_front(struct text *out, struct span scheme, struct span authority)
{
    if (scheme.data) {
        put(out, scheme);
        text_putc(out, ':');
    }
    if (authority.data) {
        text_puts(out, "//");
        put(out, authority);
    }
}

void uri_resolve(const char *base, const char *reference, size_t length, struct text *out)
{
    struct parts from = split((struct span){base, strlen(base)});
    struct parts to = split((struct span){reference, length});
    bool own_front = to.scheme.data || to.authority.data;
    put_front(out, to.scheme.data ? to.scheme : from.scheme,
              own_front ? to.authority : from.authority);
    if (own_front || (to.path.length && to.path.data[0] == '/'))
        put_path(out, to.path);
    else if (to.path.length)
        put_merged(out, &from, to.path);
    else
        put(out, from.path);
    bool own_query = own_front || to.path.length || to.query.data;
    struct span query = own_query ? to.query : from.query;
    if (query.data) {
        text_putc(out, '?');
        put(out, query);
    }
}
