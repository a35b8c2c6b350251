#include "html.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <libxml/HTMLparser.h>
#include <libxml/uri.h>

#include "link.h"

enum {
    CHUNK_BYTES = 4096, /* between two looks at whether to go on */
    DEPTH_MAX = 512,    /* the parser looks through all open elements */
    LINK_BYTES = 2000
};

/* ---- the library ---- */

struct html_api {
    htmlParserCtxtPtr (*create)(htmlSAXHandlerPtr, void *, const char *, int, const char *,
                                xmlCharEncoding);
    int (*use_options)(htmlParserCtxtPtr, int);
    int (*parse)(htmlParserCtxtPtr, const char *, int, int);
    void (*stop)(xmlParserCtxtPtr);
    void (*release)(htmlParserCtxtPtr);
    void (*init)(void);
    xmlChar *(*build_uri)(const xmlChar *, const xmlChar *);
    xmlFreeFunc *free;
};

void html_library_begin(struct html_library *library)
{
    *library = (struct html_library){.handle = NULL};
    pthread_mutex_init(&library->lock, NULL);
}

/* The library stays: others may use it. */
void html_library_end(struct html_library *library)
{
    free(library->api);
    pthread_mutex_destroy(&library->lock);
}

static bool find(void *handle, const char *name, void *out)
{
    void *found = dlsym(handle, name);
    memcpy(out, &found, sizeof(found));
    return found != NULL;
}

static struct html_api *load_locked(struct html_library *library)
{
    if (!library->handle)
        library->handle = dlopen("libxml2.so.2", RTLD_NOW | RTLD_LOCAL);
    void *handle = library->handle;
    struct html_api *api = handle ? calloc(1, sizeof(*api)) : NULL;
    if (!api)
        return NULL;
    if (!find(handle, "htmlCreatePushParserCtxt", &api->create) ||
        !find(handle, "htmlCtxtUseOptions", &api->use_options) ||
        !find(handle, "htmlParseChunk", &api->parse) ||
        !find(handle, "xmlStopParser", &api->stop) ||
        !find(handle, "htmlFreeParserCtxt", &api->release) ||
        !find(handle, "xmlInitParser", &api->init) ||
        !find(handle, "xmlBuildURI", &api->build_uri) || !find(handle, "xmlFree", &api->free)) {
        free(api);
        return NULL;
    }
    api->init();
    return api;
}

static const struct html_api *load(struct html_library *library, const char **problem)
{
    pthread_mutex_lock(&library->lock);
    if (!library->api)
        library->api = load_locked(library);
    const struct html_api *api = library->api;
    if (!api) {
        *problem = dlerror();
        if (!*problem)
            *problem = "out of memory";
    }
    pthread_mutex_unlock(&library->lock);
    return api;
}

/* ---- elements ---- */

enum kind {
    INLINE,
    HIDDEN,
    TITLE,
    BASE,
    LINE,
    BLOCK,
    HEADING,
    LIST,
    NUMBERED,
    ITEM,
    LINK,
    IMAGE,
    NEWLINE,
    RULE,
    PREFORMATTED,
    CODE,
    QUOTE,
    ROW,
    CELL,
    TERM
};

static const struct {
    const char *name;
    enum kind kind;
} elements[] = {
    {"a", LINK},         {"address", LINE},    {"article", BLOCK},    {"aside", BLOCK},
    {"audio", HIDDEN},   {"base", BASE},       {"blockquote", QUOTE}, {"br", NEWLINE},
    {"canvas", HIDDEN},  {"caption", LINE},    {"code", CODE},        {"dd", TERM},
    {"details", BLOCK},  {"div", LINE},        {"dl", BLOCK},         {"dt", LINE},
    {"fieldset", BLOCK}, {"figcaption", LINE}, {"figure", BLOCK},     {"footer", BLOCK},
    {"form", BLOCK},     {"h1", HEADING},      {"h2", HEADING},       {"h3", HEADING},
    {"h4", HEADING},     {"h5", HEADING},      {"h6", HEADING},       {"header", BLOCK},
    {"hr", RULE},        {"iframe", HIDDEN},   {"img", IMAGE},        {"li", ITEM},
    {"main", BLOCK},     {"nav", BLOCK},       {"noscript", HIDDEN},  {"object", HIDDEN},
    {"ol", NUMBERED},    {"option", LINE},     {"p", BLOCK},          {"pre", PREFORMATTED},
    {"script", HIDDEN},  {"section", BLOCK},   {"style", HIDDEN},     {"summary", LINE},
    {"svg", HIDDEN},     {"table", BLOCK},     {"td", CELL},          {"template", HIDDEN},
    {"th", CELL},        {"title", TITLE},     {"tr", ROW},           {"ul", LIST},
    {"video", HIDDEN},
};

static int compare_name(const void *name, const void *element)
{
    return strcmp(name, *(const char *const *)element);
}

static enum kind kind_of(const xmlChar *name)
{
    const void *found = bsearch(name, elements, sizeof(elements) / sizeof(elements[0]),
                                sizeof(elements[0]), compare_name);
    return found ? elements[(size_t)((const char *)found - (const char *)elements) /
                            sizeof(elements[0])]
                       .kind
                 : INLINE;
}

/* ---- reading ---- */

struct reader {
    const struct html_api *api;
    struct page *page;
    htmlParserCtxtPtr parser;
    xmlChar *base; /* of the document, or NULL */
    const char *address;
    unsigned depth, hidden, titles, cells;
    bool too_deep;
    xmlChar *link; /* whose text is being read, or NULL */
    size_t link_start;
};

static const xmlChar *attribute(const xmlChar **attributes, const char *name)
{
    for (; attributes && attributes[0]; attributes += 2)
        if (strcasecmp((const char *)attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

/* What leads to another place, as a whole address; NULL: it does not. */
static xmlChar *resolve(const struct reader *reader, const xmlChar *href)
{
    const xmlChar *base = reader->base ? reader->base : (const xmlChar *)reader->address;
    char clean[LINK_BYTES];
    if (!href || href[0] == '#' || !link_clean((const char *)href, clean, sizeof(clean)))
        return NULL;
    xmlChar *whole = reader->api->build_uri((const xmlChar *)clean, base);
    if (whole && strncasecmp((const char *)whole, "http://", 7) != 0 &&
        strncasecmp((const char *)whole, "https://", 8) != 0 &&
        strncasecmp((const char *)whole, "mailto:", 7) != 0) {
        (*reader->api->free)(whole);
        whole = NULL;
    }
    return whole;
}

static void end_link(struct reader *reader)
{
    struct page *page = reader->page;
    if (!reader->link)
        return;
    if (page->length == reader->link_start) { /* it has no text, or no room */
        page->length -= page->length && page->text[page->length - 1] == '[';
    } else {
        page->space = false;
        page_mark(page, "](");
        page_mark(page, (const char *)reader->link);
        page_mark(page, ")");
    }
    (*reader->api->free)(reader->link);
    reader->link = NULL;
}

static void begin_link(struct reader *reader, const xmlChar **attributes)
{
    end_link(reader);
    reader->link = resolve(reader, attribute(attributes, "href"));
    if (!reader->link)
        return;
    page_mark(reader->page, "[");
    page_hold(reader->page);
    reader->link_start = reader->page->length;
}

/* In the text of a link a block is no more than a space. */
static void make_break(struct reader *reader, int breaks)
{
    if (reader->link)
        page_text(reader->page, " ", 1);
    else
        page_break(reader->page, breaks);
}

static void put_image(struct reader *reader, const xmlChar *text)
{
    if (!text || !*text)
        return;
    page_mark(reader->page, "[image: ");
    page_text(reader->page, (const char *)text, strlen((const char *)text));
    reader->page->space = false;
    page_mark(reader->page, "]");
}

static void begin_heading(struct reader *reader, const xmlChar *name)
{
    make_break(reader, 2);
    if (!reader->link)
        page_mark(reader->page, &"###### "['6' - name[1]]);
}

static void begin_preformatted(struct reader *reader)
{
    end_link(reader);
    page_break(reader->page, 2);
    page_mark(reader->page, "```");
    page_break(reader->page, 1);
    reader->page->literal = true;
}

static void begin_list(struct reader *reader, bool is_numbered)
{
    end_link(reader);
    page_list(reader->page, is_numbered);
}

/* The first block of a cell begins in its line, and the last one ends there. */
static void begin_cell(struct reader *reader)
{
    if (reader->cells++) {
        page_join(reader->page);
        page_mark(reader->page, " | ");
    }
    page_hold(reader->page);
}

static void begin_kind(struct reader *reader, enum kind kind, const xmlChar *name,
                       const xmlChar **attributes)
{
    struct page *page = reader->page;
    switch (kind) {
    case BASE:
        if (!reader->base)
            reader->base = resolve(reader, attribute(attributes, "href"));
        break;
    case LINE:
        make_break(reader, 1);
        break;
    case TERM:
        make_break(reader, 1);
        page_mark(page, "  ");
        page_hold(page);
        break;
    case ROW:
        make_break(reader, 1);
        reader->cells = 0;
        break;
    case CELL:
        begin_cell(reader);
        break;
    case BLOCK:
        make_break(reader, 2);
        break;
    case QUOTE:
        end_link(reader);
        page_break(page, 2);
        page->quotes++;
        break;
    case HEADING:
        begin_heading(reader, name);
        break;
    case LIST:
    case NUMBERED:
        begin_list(reader, kind == NUMBERED);
        break;
    case ITEM:
        end_link(reader);
        page_item(page);
        break;
    case LINK:
        begin_link(reader, attributes);
        break;
    case IMAGE:
        put_image(reader, attribute(attributes, "alt"));
        break;
    case NEWLINE:
        make_break(reader, 1);
        break;
    case RULE:
        make_break(reader, 2);
        page_mark(page, "---");
        make_break(reader, 2);
        break;
    case PREFORMATTED:
        begin_preformatted(reader);
        break;
    case CODE:
        if (!page->literal)
            page_mark(page, "`");
        break;
    case INLINE:
    case HIDDEN:
    case TITLE:
        break;
    }
}

static void end_kind(struct reader *reader, enum kind kind)
{
    struct page *page = reader->page;
    switch (kind) {
    case LINK:
        end_link(reader);
        break;
    case ROW:
        page_join(page);
        make_break(reader, 1);
        break;
    case LINE:
    case TERM:
        make_break(reader, 1);
        break;
    case BLOCK:
    case HEADING:
        make_break(reader, 2);
        break;
    case QUOTE:
        end_link(reader);
        page->quotes -= page->quotes > 0;
        page_break(page, 2);
        break;
    case LIST:
    case NUMBERED:
        end_link(reader);
        page_list_end(page);
        break;
    case PREFORMATTED:
        page->literal = false;
        page_break(page, 1);
        page_mark(page, "```");
        page_break(page, 2);
        break;
    case CODE:
        if (!page->literal)
            page_mark(page, "`");
        break;
    default:
        break;
    }
}

static void on_start(void *data, const xmlChar *name, const xmlChar **attributes)
{
    struct reader *reader = data;
    enum kind kind = kind_of(name);
    if (++reader->depth > DEPTH_MAX)
        reader->too_deep = true;
    if (reader->too_deep || reader->page->full || reader->page->failed) {
        reader->api->stop(reader->parser);
        return;
    }
    if (kind == HIDDEN)
        reader->hidden++;
    else if (kind == TITLE)
        reader->titles++;
    else if (!reader->hidden)
        begin_kind(reader, kind, name, attributes);
}

static void on_end(void *data, const xmlChar *name)
{
    struct reader *reader = data;
    enum kind kind = kind_of(name);
    reader->depth -= reader->depth > 0;
    if (kind == HIDDEN)
        reader->hidden -= reader->hidden > 0;
    else if (kind == TITLE)
        reader->titles -= reader->titles > 0;
    else if (!reader->hidden)
        end_kind(reader, kind);
}

static void on_text(void *data, const xmlChar *text, int length)
{
    struct reader *reader = data;
    if (reader->hidden || length <= 0)
        return;
    if (reader->titles)
        page_title(reader->page, (const char *)text, (size_t)length);
    else
        page_text(reader->page, (const char *)text, (size_t)length);
}

static void on_error(void *data, xmlErrorPtr error)
{
    (void)data; /* every page has some */
    (void)error;
}

static enum html_end parse(struct reader *reader, const char *text, size_t length,
                           bool (*goes_on)(void *data), void *data)
{
    /* With no element open, an end without a beginning would be the end of it all. */
    static const char start[] = "<html><body>";
    const struct page *page = reader->page;
    reader->api->parse(reader->parser, start, sizeof(start) - 1, 0);
    for (size_t at = 0; at < length; at += CHUNK_BYTES) {
        size_t bytes = length - at < CHUNK_BYTES ? length - at : CHUNK_BYTES;
        if (!goes_on(data))
            return HTML_STOPPED;
        reader->api->parse(reader->parser, text + at, (int)bytes, at + bytes == length);
        if (page->failed)
            return HTML_NO_MEMORY;
        if (page->full || reader->too_deep)
            break;
    }
    end_link(reader);
    return reader->too_deep ? HTML_TOO_DEEP : page->failed ? HTML_NO_MEMORY : HTML_READ;
}

enum html_end html_read(struct html_library *library, struct page *page, const char *text,
                        size_t length, const char *base, bool (*goes_on)(void *data), void *data,
                        const char **problem)
{
    htmlSAXHandler events = {
        .startElement = on_start,
        .endElement = on_end,
        .characters = on_text,
        .ignorableWhitespace = on_text,
        .cdataBlock = on_text,
        .serror = on_error,
        .initialized = XML_SAX2_MAGIC,
    };
    struct reader reader = {.api = load(library, problem), .page = page, .address = base};
    if (!reader.api)
        return HTML_NO_LIBRARY;
    reader.parser = reader.api->create(&events, &reader, NULL, 0, NULL, XML_CHAR_ENCODING_UTF8);
    enum html_end end = HTML_NO_MEMORY;
    if (reader.parser) {
        reader.api->use_options(reader.parser, HTML_PARSE_RECOVER | HTML_PARSE_NOERROR |
                                                   HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
                                                   HTML_PARSE_IGNORE_ENC);
        end = parse(&reader, text, length, goes_on, data);
        reader.api->release(reader.parser);
    }
    if (reader.link)
        (*reader.api->free)(reader.link);
    if (reader.base)
        (*reader.api->free)(reader.base);
    return end;
}
