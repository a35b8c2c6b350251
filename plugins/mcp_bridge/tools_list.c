/* The list of tools, page by page. */
#include "session_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mortise/json.h>

#include "cache.h"

enum { PAGES_MAX = 500, CURSOR_MAX = 16 << 10, METHOD_NOT_FOUND = -32601 };

struct pages {
    struct session *session;
    struct buffer tools;   /* "[", and the tools */
    struct buffer cursors; /* that were asked for, as JSON, each in a line */
    size_t count;
    int64_t ttl_ms; /* -1: none was told */
    char *problem;
    size_t size;
    bool is_over;
};

static bool fail(struct pages *pages, const char *problem)
{
    snprintf(pages->problem, pages->size, "tools/list: %s", problem);
    return false;
}

static bool take_tools(struct pages *pages, const char *result)
{
    const char *list, *tool = NULL;
    mortise_status status;
    if (mortise_json_array(result, "tools", &list) != MORTISE_OK)
        return fail(pages, "the answer has no list of tools");
    while ((status = mortise_json_next(list, &tool)) == MORTISE_OK) {
        if (*tool != '{')
            continue;
        if (++pages->count > LIST_TOOLS_MAX)
            return fail(pages, "it has too many tools");
        if (pages->tools.length > 1)
            buffer_puts(&pages->tools, ",");
        buffer_json(&pages->tools, tool, mortise_json_length(tool));
        if (pages->tools.length > LIST_BYTES_MAX - 65536)
            return fail(pages, "its tools are too large");
    }
    return status == MORTISE_NOT_FOUND || fail(pages, "the list is no JSON");
}

/* The page that comes next.  One that was there before would come for ever. */
static bool take_cursor(struct pages *pages, const char *result)
{
    const char *cursor = NULL;
    struct buffer line = BUFFER_INIT;
    pages->is_over =
        mortise_json_value(result, "nextCursor", &cursor) != MORTISE_OK || *cursor != '"';
    if (pages->is_over)
        return true;
    if (mortise_json_length(cursor) > CURSOR_MAX)
        return fail(pages, "the cursor of its next page is too long");
    buffer_puts(&line, "\n");
    buffer_put(&line, cursor, mortise_json_length(cursor));
    buffer_puts(&line, "\n");
    bool is_known = !line.failed && pages->cursors.text && strstr(pages->cursors.text, line.text);
    pages->is_over = is_known || line.failed;
    if (is_known)
        session_log(pages->session, MORTISE_LOG_WARNING,
                    "its list of tools goes round in a circle; %zu tools are taken", pages->count);
    else
        buffer_put(&pages->cursors, line.text, line.length);
    buffer_release(&line);
    return true;
}

static void take_ttl(struct pages *pages, const char *result)
{
    int64_t ttl_ms;
    if (mortise_json_integer(result, "ttlMs", &ttl_ms) == MORTISE_OK && ttl_ms >= 0 &&
        (pages->ttl_ms < 0 || ttl_ms < pages->ttl_ms))
        pages->ttl_ms = ttl_ms;
}

static bool take_page(struct pages *pages, const struct reply *reply)
{
    int64_t code = 0;
    char problem[512];
    if (reply->result) {
        take_ttl(pages, reply->result);
        return take_tools(pages, reply->result) && take_cursor(pages, reply->result);
    }
    if (!reply->error)
        return fail(pages, reply->problem);
    mortise_json_integer(reply->error, "code", &code);
    pages->is_over = code == METHOD_NOT_FOUND && pages->count == 0;
    rpc_describe_error(reply->error, problem, sizeof(problem));
    return pages->is_over || fail(pages, problem); /* a server may have no tools at all */
}

/* The last of the cursors: without its line feeds, "" for the first page. */
static void write_cursor(const struct pages *pages, struct buffer *out)
{
    if (pages->cursors.length == 0)
        return;
    const char *end = pages->cursors.text + pages->cursors.length - 1, *begin = end;
    while (begin[-1] != '\n')
        begin--;
    buffer_puts(out, "\"cursor\":");
    buffer_put(out, begin, (size_t)(end - begin));
}

static bool read_page(struct pages *pages)
{
    const struct limits *limits = &pages->session->config->limits;
    struct buffer members = BUFFER_INIT;
    struct reply reply;
    write_cursor(pages, &members);
    bool is_good = !members.failed;
    if (is_good) {
        session_ask(pages->session,
                    &(struct ask){.method = "tools/list",
                                  .members = members.text ? members.text : "",
                                  .is_modern = pages->session->is_modern,
                                  .timeout_ms = limits->connect_ms,
                                  .max_ms = limits->connect_ms},
                    &reply);
        is_good = take_page(pages, &reply);
        reply_release(&reply);
    } else {
        fail(pages, "out of memory");
    }
    buffer_release(&members);
    return is_good;
}

static struct listing *finish(struct pages *pages)
{
    struct session *session = pages->session;
    buffer_puts(&pages->tools, "]");
    struct listing *listing = listing_new(buffer_take(&pages->tools), pages->count,
                                          session->server ? strdup(session->server) : NULL);
    if (!listing) {
        fail(pages, "out of memory");
        return NULL;
    }
    listing->is_modern = session->is_modern;
    memcpy(listing->version, session->version, sizeof(listing->version));
    if (pages->ttl_ms >= 0)
        listing->expires_ms = (int64_t)time(NULL) * 1000 + pages->ttl_ms;
    return listing;
}

struct listing *tools_list_read(struct session *session, char *problem, size_t size)
{
    struct pages pages = {.session = session, .ttl_ms = -1, .problem = problem, .size = size};
    bool is_good = true;
    pthread_mutex_lock(&session->lock);
    session->changed_ms = 0; /* whatever comes from now on may not be in it */
    pthread_mutex_unlock(&session->lock);
    buffer_puts(&pages.tools, "[");
    for (int page = 0; is_good && !pages.is_over; page++)
        is_good = page == PAGES_MAX ? fail(&pages, "it has too many pages") : read_page(&pages);
    struct listing *listing = is_good ? finish(&pages) : NULL;
    buffer_release(&pages.tools);
    buffer_release(&pages.cursors);
    return listing;
}
