#include "output.h"

#include <mortise/tool.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    SHOW_AFTER_MS = 50,   /* what comes within this time is shown together */
    SHOWN_MOST = 1 << 20, /* bytes: hosts show no more of one call */
    CHARACTER = 4         /* bytes of one, at most */
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool output_begin(struct output *output, mortise_call *call, size_t limit)
{
    static const char *const names[] = {"stdout", "stderr"};
    pthread_condattr_t clock;
    memset(output, 0, sizeof(*output));
    output->call = call;
    output->half = limit / 2;
    for (int i = 0; i < 2; i++) {
        struct output_stream *stream = &output->streams[i];
        stream->name = names[i];
        stream->head = mortise_alloc(call, output->half);
        stream->tail = mortise_alloc(call, output->half);
        if (!stream->head || !stream->tail)
            return false;
    }
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&output->changed, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&output->lock, NULL);
    return true;
}

/* ---- showing ---- */

/* How many bytes at the end begin a character whose other bytes have not come. */
static size_t unfinished(const char *bytes, size_t length)
{
    for (size_t back = 1; back < CHARACTER && back <= length; back++) {
        unsigned char byte = (unsigned char)bytes[length - back];
        size_t whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
        if ((byte & 0xc0) == 0x80)
            continue;
        return whole > back ? back : 0;
    }
    return 0;
}

static void show_locked(struct output *output, struct output_stream *stream, bool is_last)
{
    size_t keep = is_last ? 0 : unfinished(stream->pending, stream->pending_length);
    size_t length = stream->pending_length - keep;
    if (length && output->shown < SHOWN_MOST) {
        static const char end[] = "\n[what follows is not shown]\n";
        mortise_emit(output->call, stream->name, stream->pending, length);
        output->shown += length;
        if (output->shown >= SHOWN_MOST)
            mortise_emit(output->call, stream->name, end, sizeof(end) - 1);
    }
    memmove(stream->pending, stream->pending + length, keep);
    stream->pending_length = keep;
    output->last_ms = now_ms();
}

static bool is_pending(const struct output *output)
{
    return output->streams[0].pending_length || output->streams[1].pending_length;
}

/* Shows what has waited for long enough, whatever the code is doing. */
static void *show_late(void *data)
{
    struct output *output = data;
    pthread_mutex_lock(&output->lock);
    while (!output->is_over) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += SHOW_AFTER_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (!is_pending(output)) {
            pthread_cond_wait(&output->changed, &output->lock);
            continue;
        }
        pthread_cond_timedwait(&output->changed, &output->lock, &until);
        for (int i = 0; i < 2 && !output->is_over; i++)
            show_locked(output, &output->streams[i], false);
    }
    pthread_mutex_unlock(&output->lock);
    return NULL;
}

static void wait_to_show(struct output *output, bool was_pending)
{
    if (output->has_thread) {
        if (!was_pending)
            pthread_cond_signal(&output->changed);
        return;
    }
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    output->has_thread = pthread_create(&output->thread, &small, show_late, output) == 0;
    pthread_attr_destroy(&small);
}

static void add_to_show(struct output *output, struct output_stream *stream, const char *bytes,
                        size_t length)
{
    struct output_stream *other = &output->streams[stream == output->streams];
    bool was_pending = is_pending(output);
    if (output->shown >= SHOWN_MOST)
        return;
    if (other->pending_length)
        show_locked(output, other, false); /* in the order in which it came */
    while (length) {
        size_t fits = sizeof(stream->pending) - stream->pending_length;
        size_t part = length < fits ? length : fits;
        memcpy(stream->pending + stream->pending_length, bytes, part);
        stream->pending_length += part;
        bytes += part;
        length -= part;
        if (stream->pending_length == sizeof(stream->pending))
            show_locked(output, stream, false);
    }
    bool is_line = stream->pending_length && stream->pending[stream->pending_length - 1] == '\n';
    if (is_line && now_ms() - output->last_ms >= SHOW_AFTER_MS)
        show_locked(output, stream, false);
    if (stream->pending_length)
        wait_to_show(output, was_pending);
}

/* ---- keeping ---- */

static void keep(struct output *output, struct output_stream *stream, const char *bytes,
                 size_t length)
{
    size_t half = output->half, fits = half - stream->head_length;
    size_t part = length < fits ? length : fits;
    memcpy(stream->head + stream->head_length, bytes, part);
    stream->head_length += part;
    bytes += part;
    length -= part;
    if (length > half) {
        stream->left_out += length - half;
        bytes += length - half;
        length = half;
    }
    if (stream->tail_length + length > half)
        stream->left_out += stream->tail_length + length - half;
    for (size_t left = length; left;) {
        size_t run = half - stream->tail_end;
        run = left < run ? left : run;
        memcpy(stream->tail + stream->tail_end, bytes, run);
        stream->tail_end = (stream->tail_end + run) % half;
        bytes += run;
        left -= run;
    }
    stream->tail_length += length;
    if (stream->tail_length > half)
        stream->tail_length = half;
}

void output_add(struct output *output, int stream, const char *bytes, size_t length)
{
    struct output_stream *to = &output->streams[stream == 2];
    pthread_mutex_lock(&output->lock);
    if (!output->is_over && length) {
        keep(output, to, bytes, length);
        add_to_show(output, to, bytes, length);
    }
    pthread_mutex_unlock(&output->lock);
}

void output_end(struct output *output)
{
    pthread_mutex_lock(&output->lock);
    for (int i = 0; i < 2; i++)
        show_locked(output, &output->streams[i], true);
    output->is_over = true;
    pthread_cond_signal(&output->changed);
    pthread_mutex_unlock(&output->lock);
    if (output->has_thread)
        pthread_join(output->thread, NULL);
}

char *output_text(const struct output *output, int stream, size_t *length)
{
    enum { MARK = 64 };
    const struct output_stream *from = &output->streams[stream == 2];
    size_t half = output->half, begin = (from->tail_end + half - from->tail_length) % half;
    size_t size = from->head_length + MARK + from->tail_length + 1;
    char *text = mortise_alloc(output->call, size);
    if (!text)
        return NULL;
    size_t used = from->head_length;
    memcpy(text, from->head, used);
    if (from->left_out) {
        used -= unfinished(text, used);
        used += (size_t)snprintf(text + used, size - used, "\n[… %" PRIu64 " bytes left out …]\n",
                                 from->left_out);
    }
    bool is_begun = from->left_out > 0; /* perhaps in the middle of a character */
    for (size_t i = 0; i < from->tail_length; i++) {
        char byte = from->tail[(begin + i) % half];
        if (is_begun && i < CHARACTER - 1 && ((unsigned char)byte & 0xc0) == 0x80)
            continue;
        is_begun = false;
        text[used++] = byte;
    }
    for (size_t i = 0; i < used; i++)
        if (!text[i])
            text[i] = '\xff'; /* ends a text for many readers, so it is told as what is no UTF-8 */
    *length = used;
    return text;
}
