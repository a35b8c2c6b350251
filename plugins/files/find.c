/* glob: files whose path matches a pattern. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "text.h"
#include "walk.h"
#include "wildcard.h"

enum { FOUND_MOST = 200000 };

struct found {
    struct timespec changed;
    char path[];
};

struct search {
    const struct find_request *what;
    const struct place *place;
    mortise_call *call;
    struct wildcards wildcards;
    struct found **list;
    size_t count, looked;
    bool is_cut, failed;
};

static void keep(struct search *search, const struct walk_entry *entry)
{
    struct stat status = {.st_size = 0};
    size_t length = strlen(entry->path) + 1;
    if (search->what->by_time)
        fstatat(entry->folder, entry->name, &status, AT_SYMLINK_NOFOLLOW);
    if ((search->count & (search->count - 1)) == 0) {
        size_t room = search->count ? search->count * 2 : 1;
        struct found **list = realloc(search->list, room * sizeof(*list));
        search->failed = !list;
        if (!list)
            return;
        search->list = list;
    }
    struct found *found = malloc(sizeof(*found) + length);
    search->failed = !found;
    if (!found)
        return;
    found->changed = status.st_mtim;
    memcpy(found->path, entry->path, length);
    search->list[search->count++] = found;
}

static enum walk_next visit(void *data, const struct walk_entry *entry)
{
    struct search *search = data;
    if (++search->looked % 4096 == 0)
        mortise_progress(search->call, (double)search->looked, 0, NULL);
    if (entry->type == DT_DIR || !wildcards_match(&search->wildcards, entry->below))
        return WALK_ON;
    search->is_cut = search->count == FOUND_MOST;
    if (!search->is_cut)
        keep(search, entry);
    return search->failed || search->is_cut ? WALK_STOP : WALK_ON;
}

static int newest_first(const void *a, const void *b)
{
    const struct found *left = *(struct found *const *)a, *right = *(struct found *const *)b;
    if (left->changed.tv_sec != right->changed.tv_sec)
        return left->changed.tv_sec < right->changed.tv_sec ? 1 : -1;
    if (left->changed.tv_nsec != right->changed.tv_nsec)
        return left->changed.tv_nsec < right->changed.tv_nsec ? 1 : -1;
    return strcmp(left->path, right->path);
}

static mortise_status reply(struct search *search, const struct walk *walk)
{
    struct text out = TEXT_INIT;
    size_t shown = 0;
    while (shown < search->count && (int64_t)shown < search->what->limit &&
           out.length < FILES_MOST_TEXT) {
        place_put(search->place, &out, search->list[shown++]->path);
        text_puts(&out, "\n");
    }
    if (!search->count)
        text_printf(&out, "[no file matches%s]\n",
                    walk->hidden && walk->ignored
                        ? ""
                        : "; hidden and ignored ones were left out (hidden, ignored)");
    else if (shown < search->count)
        text_printf(&out, "[%zu of %zu%s files; narrow the pattern or raise limit]\n", shown,
                    search->count, search->is_cut || walk->is_cut ? " or more" : "");
    else if (walk->is_cut)
        text_puts(&out, "[the folder is too large or too deep to be searched as a whole]\n");
    if (walk->unreadable)
        text_printf(&out, "[%zu folders cannot be read]\n", walk->unreadable);
    return text_reply(&out, search->call);
}

static mortise_status run(struct search *search)
{
    struct walk walk = {.call = search->call,
                        .place = search->place,
                        .hidden = search->what->hidden,
                        .ignored = search->what->ignored,
                        .visit = visit,
                        .data = search};
    int error = walk_run(&walk);
    if (search->failed)
        return MORTISE_NO_MEMORY;
    if (error)
        return place_fail(search->call, search->place, "search", error);
    if (walk.is_cancelled)
        return MORTISE_CANCELLED;
    if (search->what->by_time && search->count)
        qsort(search->list, search->count, sizeof(*search->list), newest_first);
    return reply(search, &walk);
}

/* Also a pattern that names the folder by its absolute path goes from there. */
static const char *from_place(const struct place *place, const char *pattern)
{
    size_t length = strlen(place->absolute);
    bool is_below = strncmp(pattern, place->absolute, length) == 0 && pattern[length] == '/';
    return is_below ? pattern + length + 1 : pattern;
}

mortise_status files_find(struct files *files, mortise_call *call, const struct find_request *what)
{
    struct place place;
    struct search search = {.what = what, .place = &place, .call = call};
    mortise_status status = place_open(files, call, what->path, &place);
    if (status != MORTISE_OK)
        return status;
    const char *wrong = wildcards_init(&search.wildcards, from_place(&place, what->pattern));
    if (wrong)
        status = mortise_fail_as(call, MORTISE_INVALID_INPUT, "files.pattern",
                                 "the pattern cannot be used: %s", wrong);
    else
        status = run(&search);
    place_close(&place);
    for (size_t i = 0; i < search.count; i++)
        free(search.list[i]);
    free(search.list);
    wildcards_release(&search.wildcards);
    return status;
}
