/* grep: lines of files that match a regular expression. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beneath.h"
#include "kind.h"
#include "regex.h"
#include "text.h"
#include "walk.h"
#include "wildcard.h"

enum {
    FILE_BYTES = 64 * 1024 * 1024, /* of a file that is searched */
    LINE_BYTES = 400,              /* of a line that is shown */
    TIME_MS = 60 * 1000,
    ROOM_MS = 500, /* that are left for the answer, of a call that has a limit of its own */
};

struct search {
    const struct grep_request *what;
    const struct place *place;
    mortise_call *call;
    struct regex *regex;
    struct wildcards filter; /* empty: every file */
    struct text out;
    int64_t shown; /* matching lines, or files */
    size_t files, matches, with_matches, binary, large, unreadable;
    bool is_full, is_first_hit;
    enum regex_end end;   /* why it stopped early */
    struct text end_path; /* where */
};

/* ---- one file ------------------------------------------------------------------------------- */

/* A text and where its search is. */
struct page {
    const char *path, *data;
    size_t length;
    size_t line_at; /* where the line begins whose number is … */
    int64_t number;
    int64_t last_shown; /* the last line that was put out; 0: none */
    size_t last_end;    /* where the line after it begins */
    size_t count;
};

static size_t line_end(const struct page *page, size_t at)
{
    const char *feed = at < page->length ? memchr(page->data + at, '\n', page->length - at) : NULL;
    return feed ? (size_t)(feed - page->data) : page->length;
}

/* Goes on to the line that has `at`. */
static void go_to(struct page *page, size_t at)
{
    for (;;) {
        size_t end = line_end(page, page->line_at);
        if (at <= end || end == page->length)
            return;
        page->line_at = end + 1;
        page->number++;
    }
}

static size_t put_line(struct search *search, const struct page *page, size_t at, int64_t number,
                       char mark)
{
    size_t end = line_end(page, at), length = end - at;
    struct text *out = &search->out;
    length -= length && page->data[at + length - 1] == '\r';
    place_put(search->place, out, page->path);
    text_printf(out, "%c%" PRId64 "%c", mark, number, mark);
    text_line(out, page->data + at, length, LINE_BYTES);
    text_puts(out, "\n");
    return end + 1;
}

/* What comes behind the last match, up to the line `until`. */
static void put_after(struct search *search, struct page *page, int64_t until)
{
    int64_t left = page->last_shown ? search->what->after : 0;
    for (; left > 0 && page->last_end < page->length && page->last_shown + 1 < until; left--)
        page->last_end = put_line(search, page, page->last_end, ++page->last_shown, '-');
}

/* The lines before the match that were not shown yet. */
static void put_before(struct search *search, struct page *page)
{
    int64_t first = page->number - search->what->before;
    if (first <= page->last_shown)
        first = page->last_shown + 1;
    first = first < 1 ? 1 : first;
    bool has_context = search->what->before || search->what->after;
    if (has_context && !search->is_first_hit && first > page->last_shown + 1)
        text_puts(&search->out, "--\n");
    else if (has_context && !search->is_first_hit && !page->last_shown)
        text_puts(&search->out, "--\n");
    size_t at = page->line_at;
    for (int64_t number = page->number; number > first; number--) {
        at--; /* the line feed of the line before */
        while (at && page->data[at - 1] != '\n')
            at--;
    }
    for (int64_t number = first; number < page->number; number++)
        at = put_line(search, page, at, number, '-');
}

/* A match, with all lines that it covers. */
static void put_match(struct search *search, struct page *page, size_t to)
{
    put_after(search, page, page->number);
    put_before(search, page);
    search->is_first_hit = false;
    size_t at = page->line_at;
    int64_t number = page->number;
    do {
        at = put_line(search, page, at, number, ':');
        page->last_shown = number++;
    } while (at < to && at < page->length && search->out.length < FILES_MOST_TEXT);
    page->last_end = at;
}

/* Counts and shows a match; false: no more are wanted. */
static bool take(struct search *search, struct page *page, size_t from, size_t to)
{
    page->count++;
    search->matches++;
    if (search->what->output == GREP_FILES)
        return false;
    if (search->what->output == GREP_COUNT)
        return true;
    if (search->shown >= search->what->limit || search->out.length > FILES_MOST_TEXT) {
        search->is_full = true;
        return false;
    }
    go_to(page, from);
    put_match(search, page, to);
    search->shown++;
    return true;
}

/* Line by line, so that no match goes beyond its line. */
static enum regex_end search_lines(struct search *search, struct page *page)
{
    enum regex_end end = REGEX_NONE;
    size_t from, to;
    int64_t number = 1;
    for (size_t at = 0; at < page->length; number++) {
        size_t stop = line_end(page, at), length = stop - at;
        length -= length && page->data[at + length - 1] == '\r';
        end = regex_find(search->regex, page->data + at, length, 0, &from, &to);
        if (end == REGEX_MATCH) {
            page->line_at = at;
            page->number = number;
            if (!take(search, page, at + from, at + to))
                return REGEX_NONE;
        } else if (end != REGEX_NONE) {
            return end;
        }
        at = stop + 1;
        if (number % 4096 == 0 && mortise_cancelled(search->call))
            return REGEX_CANCELLED;
    }
    return REGEX_NONE;
}

static enum regex_end search_text(struct search *search, struct page *page)
{
    size_t at = 0, from, to;
    while (at < page->length) {
        enum regex_end end = regex_find(search->regex, page->data, page->length, at, &from, &to);
        if (end != REGEX_MATCH)
            return end;
        if (!take(search, page, from, to))
            return REGEX_NONE;
        /* the next one begins in another line */
        at = line_end(page, to > from ? to - 1 : to) + 1;
    }
    return REGEX_NONE;
}

static void put_file(struct search *search, const struct page *page)
{
    if (!page->count || search->what->output == GREP_CONTENT)
        return;
    if (search->shown >= search->what->limit || search->out.length > FILES_MOST_TEXT) {
        search->is_full = true;
        return;
    }
    search->shown++;
    place_put(search->place, &search->out, page->path);
    if (search->what->output == GREP_COUNT)
        text_printf(&search->out, ":%zu", page->count);
    text_puts(&search->out, "\n");
}

/* Searches what the descriptor has; false: it is enough. */
static bool search_file(struct search *search, int fd, const struct stat *status, const char *path)
{
    size_t length = 0;
    char *data = place_load(fd, status, FILE_BYTES, &length);
    if (!data) {
        search->large += errno == EFBIG;
        search->unreadable += errno != EFBIG;
        return true;
    }
    if (kind_is_binary(data, length)) {
        search->binary++;
        free(data);
        return true;
    }
    struct page page = {.path = path, .data = data, .length = length, .number = 1};
    enum regex_end end =
        search->what->multiline ? search_text(search, &page) : search_lines(search, &page);
    search->files++;
    if (page.count) {
        search->with_matches++;
        if (search->what->output == GREP_CONTENT)
            put_after(search, &page, INT64_MAX);
        put_file(search, &page);
    }
    free(data);
    if (end != REGEX_NONE) {
        search->end = end;
        text_puts(&search->end_path, path);
    }
    return end == REGEX_NONE && !search->is_full;
}

static enum walk_next visit(void *data, const struct walk_entry *entry)
{
    struct search *search = data;
    struct stat status, own;
    if (entry->type != DT_REG ||
        (search->filter.count && !wildcards_match(&search->filter, entry->below)))
        return WALK_ON;
    if (fstat(search->place->root, &own) != 0)
        return WALK_STOP;
    int fd = beneath_open_entry(entry->folder, entry->name, own.st_uid, &status);
    if (fd < 0) {
        search->unreadable++;
        return WALK_ON;
    }
    bool go_on = search_file(search, fd, &status, entry->path);
    close(fd);
    if (search->files % 256 == 0)
        mortise_progress(search->call, (double)search->files, 0, NULL);
    return go_on ? WALK_ON : WALK_STOP;
}

/* ---- the answer
 * ------------------------------------------------------------------------------------ */

static void put_notes(struct search *search, const struct walk *walk)
{
    struct text *out = &search->out;
    if (!search->matches)
        text_printf(out, "[no match in %zu files]\n", search->files);
    else if (search->is_full)
        text_printf(out,
                    "[stopped after %" PRId64 " %s: there are more; narrow the pattern, the "
                    "path or glob, or raise limit]\n",
                    search->shown,
                    search->what->output == GREP_CONTENT ? "matching lines" : "files");
    else
        text_printf(out, "[%zu match%s in %zu of %zu files]\n", search->matches,
                    search->matches == 1 ? "" : "es", search->with_matches, search->files);
    if (search->end == REGEX_TIME)
        text_printf(out, "[the time was over in %s: what comes after it was not searched]\n",
                    search->end_path.data ? search->end_path.data : "");
    if (search->binary)
        text_printf(out, "[%zu binary files were left out]\n", search->binary);
    if (search->large)
        text_printf(out, "[%zu files above 64 MB were left out]\n", search->large);
    if (search->unreadable + walk->unreadable)
        text_printf(out, "[%zu files or folders cannot be read]\n",
                    search->unreadable + walk->unreadable);
    if (walk->is_cut)
        text_puts(out, "[the folder is too large or too deep to be searched as a whole]\n");
}

static mortise_status answer(struct search *search, const struct walk *walk)
{
    if (walk->is_cancelled || search->end == REGEX_CANCELLED)
        return MORTISE_CANCELLED;
    if (search->end == REGEX_NO_MEMORY)
        return MORTISE_NO_MEMORY;
    if (search->end == REGEX_TOO_MUCH)
        return mortise_fail_as(search->call, MORTISE_INVALID_INPUT, "files.pattern",
                               "the pattern backtracks too much (in '%s'): avoid nested "
                               "repetitions such as (a+)+, or say what may not occur, as in "
                               "[^\"]*",
                               search->end_path.data ? search->end_path.data : "");
    put_notes(search, walk);
    return text_reply(&search->out, search->call);
}

/* A file that was named, or all below a folder. */
static mortise_status run(struct search *search)
{
    struct stat status;
    struct walk walk = {.call = search->call,
                        .place = search->place,
                        .hidden = search->what->hidden,
                        .ignored = search->what->ignored,
                        .visit = visit,
                        .data = search};
    int fd = beneath_open_regular(search->place->root, search->place->path, &status);
    int error = fd < 0 ? errno : 0;
    if (fd >= 0) {
        search_file(search, fd, &status, search->place->path);
        close(fd);
    } else if (error == EISDIR) {
        error = walk_run(&walk);
    }
    return error ? place_fail(search->call, search->place, "search", error) : answer(search, &walk);
}

static mortise_status compile(struct search *search)
{
    char why[256];
    int64_t left_ms = mortise_remaining_ms(search->call);
    const struct regex_options options = {
        .literal = search->what->literal,
        .ignore_case = search->what->ignore_case,
        .multiline = search->what->multiline,
        .time_ms = left_ms < 0 || left_ms > TIME_MS + ROOM_MS ? TIME_MS
                   : left_ms > 2 * ROOM_MS                    ? left_ms - ROOM_MS
                                                              : left_ms / 2,
    };
    const char *wrong =
        search->what->filter ? wildcards_init(&search->filter, search->what->filter) : NULL;
    if (wrong)
        return mortise_fail_as(search->call, MORTISE_INVALID_INPUT, "files.pattern",
                               "'glob' cannot be used: %s", wrong);
    search->regex = regex_new(search->call, search->what->pattern, &options, why, sizeof(why));
    if (!search->regex)
        return mortise_fail_as(search->call, MORTISE_INVALID_INPUT, "files.pattern",
                               "'pattern' is no regular expression: %s", why);
    return MORTISE_OK;
}

mortise_status files_grep(struct files *files, mortise_call *call, const struct grep_request *what)
{
    struct place place;
    struct search search = {.what = what, .place = &place, .call = call, .is_first_hit = true};
    mortise_status status = compile(&search);
    if (status == MORTISE_OK)
        status = place_open(files, call, what->path, &place);
    if (status == MORTISE_OK) {
        status = run(&search);
        place_close(&place);
    }
    text_release(&search.out);
    text_release(&search.end_path);
    regex_free(search.regex);
    wildcards_release(&search.filter);
    return status;
}
