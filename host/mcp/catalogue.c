#include "mcp/catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json_write.h"

/* Before the name of the tool that a page ended with, in a cursor. */
#define CURSOR_MARK "after:"
#define CURSOR_MAX  ((size_t)200) /* longer ones are not looked at */

struct entry {
    const char *name;  /* the registry's */
    size_t start, end; /* in `text`, without the comma */
};

struct catalogue {
    atomic_uint refs;
    struct registry *registry;
    struct text text; /* the tools, with commas between them */
    size_t count;
    struct entry entries[];
};

/* ---- a tool ---- */

/* Only what its author said: a hint that is missing has the protocol's careful default. */
static void write_annotations(struct text *out, const mortise_tool_meta *meta)
{
    static const struct {
        uint32_t flag;
        const char *hint;
    } hints[] = {
        {MORTISE_READ_ONLY, "readOnlyHint"},
        {MORTISE_DESTRUCTIVE, "destructiveHint"},
        {MORTISE_IDEMPOTENT, "idempotentHint"},
        {MORTISE_OPEN_WORLD, "openWorldHint"},
    };
    struct text members = TEXT_INIT;
    text_putc(&members, '{');
    if (meta->title)
        json_put_string(&members, "title", meta->title);
    for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++)
        if (meta->flags & hints[i].flag)
            json_put_boolean(&members, hints[i].hint, true);
    if ((meta->flags & (MORTISE_READ_ONLY | MORTISE_DESTRUCTIVE)) == MORTISE_READ_ONLY)
        json_put_boolean(&members, "destructiveHint", false);
    if (members.length > 1) {
        json_put_key(out, "annotations");
        text_append(out, members.data, members.length);
        text_putc(out, '}');
    }
    out->failed |= members.failed;
    text_release(&members);
}

static void write_json(struct text *out, const char *key, const char *json)
{
    json_put_key(out, key);
    text_puts(out, json);
}

static void write_tool(struct text *out, const struct tool *tool, enum catalogue_level level)
{
    const mortise_tool_meta *meta = &tool->meta;
    text_putc(out, '{');
    json_put_string(out, "name", tool->name);
    if (meta->title && level == CATALOGUE_FULL)
        json_put_string(out, "title", meta->title);
    json_put_string(out, "description", meta->description);
    write_json(out, "inputSchema", meta->input_schema);
    if (meta->output_schema && level == CATALOGUE_FULL)
        write_json(out, "outputSchema", meta->output_schema);
    if (level != CATALOGUE_PLAIN)
        write_annotations(out, meta);
    text_putc(out, '}');
}

/* ---- all of them ---- */

static struct catalogue *make(struct registry *registry, enum catalogue_level level,
                              const struct catalogue_filter *filter)
{
    size_t most = registry_tool_count(registry);
    struct catalogue *catalogue =
        calloc(1, sizeof(*catalogue) + most * sizeof(catalogue->entries[0]));
    const struct tool *tool;
    if (!catalogue)
        return NULL;
    atomic_init(&catalogue->refs, 1);
    catalogue->registry = registry_ref(registry);
    for (size_t i = 0; (tool = registry_tool(registry, i)); i++) {
        if (filter->offered && !filter->offered(filter->data, tool))
            continue;
        struct entry *entry = &catalogue->entries[catalogue->count++];
        entry->name = tool->name;
        if (catalogue->text.length)
            text_putc(&catalogue->text, ',');
        entry->start = catalogue->text.length;
        write_tool(&catalogue->text, tool, level);
        entry->end = catalogue->text.length;
    }
    if (!catalogue->text.failed)
        return catalogue;
    catalogue_unref(catalogue);
    return NULL;
}

void catalogue_unref(struct catalogue *catalogue)
{
    if (!catalogue || atomic_fetch_sub(&catalogue->refs, 1) > 1)
        return;
    registry_unref(catalogue->registry);
    text_release(&catalogue->text);
    free(catalogue);
}

bool catalogue_equal(const struct catalogue *a, const struct catalogue *b)
{
    return a->text.length == b->text.length &&
           (!a->text.length || memcmp(a->text.data, b->text.data, a->text.length) == 0);
}

static enum catalogue_level level_of(enum mcp_revision revision)
{
    return revision == MCP_2024_11_05   ? CATALOGUE_PLAIN
           : revision == MCP_2025_03_26 ? CATALOGUE_ANNOTATED
                                        : CATALOGUE_FULL;
}

struct catalogue *catalogues_get(struct catalogues *catalogues, struct registry *registry,
                                 enum mcp_revision revision, const struct catalogue_filter *filter)
{
    enum catalogue_level level = level_of(revision);
    struct catalogue **latest = &catalogues->at[level];
    if (!*latest || (*latest)->registry != registry) {
        struct catalogue *made = make(registry, level, filter);
        if (!made)
            return NULL;
        catalogue_unref(*latest);
        *latest = made;
    }
    atomic_fetch_add(&(*latest)->refs, 1);
    return *latest;
}

void catalogues_forget(struct catalogues *catalogues, const struct registry *registry)
{
    for (size_t i = 0; i < CATALOGUE_LEVELS; i++) {
        struct catalogue **latest = &catalogues->at[i];
        if (*latest && (*latest)->registry != registry) {
            catalogue_unref(*latest);
            *latest = NULL;
        }
    }
}

/* ---- pages ---- */

static void write_cursor(struct text *out, const char *name)
{
    struct text plain = TEXT_INIT;
    text_puts(&plain, CURSOR_MARK);
    text_puts(&plain, name);
    text_puts(out, ",\"nextCursor\":\"");
    base64_append(out, text_cstr(&plain), plain.length);
    text_putc(out, '"');
    out->failed |= plain.failed;
    text_release(&plain);
}

/* Appends the name in the cursor.  A tool of that name need not be there any more. */
static bool read_cursor(struct json_piece cursor, struct text *name)
{
    struct text encoded = TEXT_INIT, plain = TEXT_INIT;
    bool good = cursor.length <= CURSOR_MAX && json_piece_text(cursor, &encoded) &&
                base64_read(&plain, text_cstr(&encoded), encoded.length) &&
                strncmp(text_cstr(&plain), CURSOR_MARK, strlen(CURSOR_MARK)) == 0;
    if (good)
        text_puts(name, text_cstr(&plain) + strlen(CURSOR_MARK));
    text_release(&encoded);
    text_release(&plain);
    return good && !name->failed;
}

/* False: the cursor is none. */
static bool find_first(const struct catalogue *catalogue, struct json_piece cursor, size_t *first)
{
    struct text name = TEXT_INIT;
    *first = 0;
    if (!cursor.length || (json_piece_is_string(cursor) && cursor.length == strlen("\"\"")))
        return true;
    bool good = read_cursor(cursor, &name);
    while (good && *first < catalogue->count &&
           strcmp(catalogue->entries[*first].name, text_cstr(&name)) <= 0)
        ++*first;
    text_release(&name);
    return good;
}

bool catalogue_write_page(const struct catalogue *catalogue, struct json_piece cursor,
                          size_t page_size, struct text *out)
{
    size_t first;
    if (!find_first(catalogue, cursor, &first))
        return false;
    size_t left = catalogue->count - first;
    size_t count = page_size && page_size < left ? page_size : left;
    json_put_key(out, "tools");
    text_putc(out, '[');
    if (count) {
        const struct entry *last = &catalogue->entries[first + count - 1];
        size_t start = catalogue->entries[first].start;
        text_append(out, catalogue->text.data + start, last->end - start);
    }
    text_putc(out, ']');
    if (count < left)
        write_cursor(out, catalogue->entries[first + count - 1].name);
    return true;
}
