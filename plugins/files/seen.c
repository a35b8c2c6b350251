#include "seen.h"

#include <stdlib.h>
#include <string.h>

struct seen_file {
    struct seen_file *next;
    struct content content;
    uint64_t from, to, lines;
    size_t session_length;
    char key[]; /* the session, a NUL, the path */
};

void seen_init(struct seen *seen)
{
    *seen = (struct seen){.count = 0};
    pthread_mutex_init(&seen->lock, NULL);
}

void seen_release(struct seen *seen)
{
    while (seen->newest) {
        struct seen_file *file = seen->newest;
        seen->newest = file->next;
        free(file);
    }
    pthread_mutex_destroy(&seen->lock);
}

/* FNV-1a. */
struct content content_of(const char *data, size_t length)
{
    struct content content = {.hash = UINT64_C(14695981039346656037), .length = length};
    for (size_t i = 0; i < length; i++)
        content.hash = (content.hash ^ (unsigned char)data[i]) * UINT64_C(1099511628211);
    return content;
}

static bool is_same(struct content a, struct content b)
{
    return a.hash == b.hash && a.length == b.length;
}

/* The file, moved to the front; NULL: it is not there. */
static struct seen_file *find_locked(struct seen *seen, const char *session, const char *path)
{
    for (struct seen_file **at = &seen->newest; *at; at = &(*at)->next) {
        struct seen_file *file = *at;
        if (strcmp(file->key + file->session_length + 1, path) != 0 ||
            strcmp(file->key, session) != 0)
            continue;
        *at = file->next;
        file->next = seen->newest;
        seen->newest = file;
        return file;
    }
    return NULL;
}

static void forget_oldest_locked(struct seen *seen)
{
    struct seen_file **at = &seen->newest;
    while ((*at)->next)
        at = &(*at)->next;
    free(*at);
    *at = NULL;
    seen->count--;
}

static struct seen_file *add_locked(struct seen *seen, const char *session, const char *path)
{
    size_t session_length = strlen(session), path_length = strlen(path);
    struct seen_file *file = calloc(1, sizeof(*file) + session_length + path_length + 2);
    if (!file)
        return NULL;
    file->session_length = session_length;
    memcpy(file->key, session, session_length + 1);
    memcpy(file->key + session_length + 1, path, path_length + 1);
    file->next = seen->newest;
    seen->newest = file;
    if (++seen->count > SEEN_MOST)
        forget_oldest_locked(seen);
    return file;
}

void seen_note(struct seen *seen, const char *session, const char *path, struct content content,
               uint64_t from, uint64_t to, uint64_t lines)
{
    pthread_mutex_lock(&seen->lock);
    struct seen_file *file = find_locked(seen, session, path);
    if (file && is_same(file->content, content) && from <= file->to + 1 && file->from <= to + 1) {
        file->from = from < file->from ? from : file->from;
        file->to = to > file->to ? to : file->to;
        file->lines = lines > file->lines ? lines : file->lines;
    } else if (file || (file = add_locked(seen, session, path))) {
        file->content = content;
        file->from = from;
        file->to = to;
        file->lines = lines;
    }
    pthread_mutex_unlock(&seen->lock);
}

enum seen_state seen_ask(struct seen *seen, const char *session, const char *path,
                         struct content content)
{
    enum seen_state state = SEEN_NOT;
    pthread_mutex_lock(&seen->lock);
    const struct seen_file *file = find_locked(seen, session, path);
    if (file && !is_same(file->content, content))
        state = SEEN_CHANGED;
    else if (file)
        state = file->from <= 1 && file->to >= file->lines ? SEEN_WHOLE : SEEN_PART;
    pthread_mutex_unlock(&seen->lock);
    return state;
}
