/* list_files: a folder as a tree. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "text.h"
#include "walk.h"

enum { OF_ONE_FOLDER = 200 };

struct listing {
    const struct list_request *what;
    struct text out;
    int64_t shown;
    size_t files, folders, deeper;
    bool is_full;
};

static void put_link(struct text *out, const struct walk_entry *entry)
{
    char target[PATH_MAX];
    ssize_t length = readlinkat(entry->folder, entry->name, target, sizeof(target) - 1);
    target[length > 0 ? length : 0] = '\0';
    text_puts(out, " -> ");
    text_name(out, target);
}

static void put_indent(struct text *out, int depth)
{
    for (int i = 1; i < depth; i++)
        text_puts(out, "  ");
}

static enum walk_next visit(void *data, const struct walk_entry *entry)
{
    struct listing *listing = data;
    struct text *out = &listing->out;
    struct stat status;
    if (listing->shown >= listing->what->limit || out->length > FILES_MOST_TEXT) {
        listing->is_full = true;
        return WALK_STOP;
    }
    listing->shown++;
    put_indent(out, entry->depth);
    text_name(out, entry->name);
    listing->folders += entry->type == DT_DIR;
    listing->files += entry->type != DT_DIR;
    if (entry->type == DT_DIR) {
        text_puts(out, "/");
    } else if (entry->type == DT_LNK) {
        put_link(out, entry);
    } else if (entry->type != DT_REG) {
        text_puts(out, " [special]");
    } else if (fstatat(entry->folder, entry->name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        text_puts(out, "  ");
        text_size(out, (uint64_t)status.st_size);
    }
    text_puts(out, "\n");
    bool is_deepest = entry->type == DT_DIR && entry->depth >= listing->what->depth;
    listing->deeper += is_deepest;
    return is_deepest ? WALK_OVER : WALK_ON;
}

static void leave(void *data, int depth, size_t left_out)
{
    struct listing *listing = data;
    if (!left_out)
        return;
    put_indent(&listing->out, depth);
    text_printf(&listing->out, "[%zu more in this folder]\n", left_out);
}

static void put_end(struct listing *listing, const struct walk *walk)
{
    struct text *out = &listing->out;
    text_printf(out, "[%zu files, %zu folders", listing->files, listing->folders);
    if (listing->is_full)
        text_puts(out, "; there are more: name a folder in path, or use glob");
    else if (listing->deeper)
        text_printf(out, ", %zu of them not opened; a larger depth opens them", listing->deeper);
    if (walk->unreadable)
        text_printf(out, "; %zu folders cannot be read", walk->unreadable);
    if (walk->is_cut)
        text_puts(out, "; the folder is too large or too deep to be listed as a whole");
    if (!listing->shown)
        text_printf(out, "%s",
                    walk->hidden && walk->ignored ? "; the folder is empty"
                                                  : "; hidden or ignored ones may be there");
    text_puts(out, "]\n");
}

mortise_status files_list(struct files *files, mortise_call *call, const struct list_request *what)
{
    struct place place;
    struct listing listing = {.what = what};
    mortise_status status = place_open(files, call, what->path, &place);
    if (status != MORTISE_OK)
        return status;
    struct walk walk = {.call = call,
                        .place = &place,
                        .hidden = what->hidden,
                        .ignored = what->ignored,
                        .by_folders = true,
                        .visit = visit,
                        .leave = leave,
                        .data = &listing,
                        .most = OF_ONE_FOLDER};
    int error = walk_run(&walk);
    if (error || walk.is_cancelled) {
        status = error ? place_fail(call, &place, "list", error) : MORTISE_CANCELLED;
        text_release(&listing.out);
    } else {
        put_end(&listing, &walk);
        status = text_reply(&listing.out, call);
    }
    place_close(&place);
    return status;
}
