#include "frontend/print.h"

#include <errno.h>
#include <string.h>

#include "base/part.h"
#include "base/secret.h"
#include "base/utf8.h"

/* How much of arguments and results a line shows. */
enum { SHOWN_BYTES = 100 };

/* A note begins on a line of its own, also where both streams are one terminal. */
static void begin_note(struct print *print)
{
    output_erase(print->notes);
    text_reset(&print->stream);
    markdown_end(&print->markdown);
    output_end_line(print->answer);
    output_flush(print->answer);
    output_end_line(print->notes);
    output_dim(print->notes);
}

static void end_note(struct print *print)
{
    output_plain(print->notes);
    output_end_line(print->notes);
    output_flush(print->notes);
}

/* A note may quote what a tool or a server said: without secrets, and without newlines, which
 * would break the picture, unless it is shown `whole`. */
static void show_note_text(struct output *output, struct slice text, bool whole, size_t most)
{
    struct text clean = TEXT_INIT;
    text_append(&clean, text.data, text.length);
    secret_redact(&clean);
    size_t length = clean.length;
    if (!whole && length > most)
        length = utf8_cut(clean.data, clean.length, most);
    for (size_t i = 0; !whole && i < length; i++)
        if (clean.data[i] == '\n')
            clean.data[i] = ' ';
    if (clean.failed)
        output_fail(output, ENOMEM);
    else
        output_foreign(output, clean.data, length);
    if (length < clean.length)
        output_own(output, "…");
    text_release(&clean);
}

static void show_short(struct print *print, struct slice text)
{
    show_note_text(print->notes, text, print->detail >= PRINT_ALL, SHOWN_BYTES);
}

static void show_string(struct print *print, const char *string)
{
    show_note_text(print->notes, (struct slice){string, strlen(string)}, true, 0);
}

static void show_call(struct print *print, const struct event *event)
{
    begin_note(print);
    output_own(print->notes, "→ ");
    show_string(print, event->as.tool_call.name);
    output_own(print->notes, " ");
    show_short(print, event->as.tool_call.arguments);
    if (event->as.tool_call.long_running)
        output_own(print->notes, " (works on in the background)");
    end_note(print);
}

static void show_duration(struct output *output, int64_t us)
{
    if (us < 1000)
        output_printf(output, "%lld µs", (long long)us);
    else if (us < 1000000)
        output_printf(output, "%.1f ms", (double)us / 1e3);
    else
        output_printf(output, "%.1f s", (double)us / 1e6);
}

/* "  + image/png, 12.3 kB, 'plot.png'" */
static void show_part(struct print *print, const struct event_part *part)
{
    struct text line = TEXT_INIT;
    part_describe(&line, part->mime_type, part->name, part->bytes, part->uri);
    begin_note(print);
    output_own(print->notes, "  + ");
    show_note_text(print->notes, (struct slice){text_cstr(&line), line.length}, false, SIZE_MAX);
    end_note(print);
    if (line.failed)
        output_fail(print->notes, ENOMEM);
    text_release(&line);
}

static void show_result(struct print *print, const struct event *event)
{
    progress_forget(&print->progress, event->as.tool_result.id);
    begin_note(print);
    output_own(print->notes, event->as.tool_result.success ? "← " : "✗ ");
    show_string(print, event->as.tool_result.name);
    output_own(print->notes, " (");
    show_duration(print->notes, event->as.tool_result.duration_us);
    output_own(print->notes, ") ");
    show_short(print, event->as.tool_result.result);
    end_note(print);
    for (size_t i = 0; i < event->as.tool_result.part_count; i++)
        show_part(print, &event->as.tool_result.parts[i]);
}

/* Numbers are drawn when the events settle, or are lines of their own where that cannot be. */
static void show_number(struct print *print, const struct tool_progress *told)
{
    bool news = progress_is_news(&print->progress, told);
    if (print->notes->erases || !news)
        return;
    struct text number = TEXT_INIT;
    progress_write_number(&number, told->done, told->total);
    begin_note(print);
    output_own(print->notes, "  ");
    show_string(print, told->name);
    output_printf(print->notes, ": %s%s", text_cstr(&number), told->text.length ? " " : "");
    show_note_text(print->notes, told->text, true, 0);
    end_note(print);
    if (number.failed)
        output_fail(print->notes, ENOMEM);
    text_release(&number);
}

/* "  build: ", or "  build (stderr): " */
static void begin_stream_line(struct print *print, const struct tool_progress *told)
{
    output_own(print->notes, "  ");
    show_string(print, told->name);
    if (strcmp(told->stream, "stdout") != 0) {
        output_own(print->notes, " (");
        show_string(print, told->stream);
        output_own(print->notes, ")");
    }
    output_own(print->notes, ": ");
}

/* A chunk goes on in the line that the one before it left open, if that is of the same call. */
static void show_stream(struct print *print, const struct tool_progress *told)
{
    struct text owner = TEXT_INIT;
    text_printf(&owner, "%s %s", told->id, told->stream);
    bool goes_on = !print->notes->at_line_start && !told->notice && !owner.failed &&
                   strcmp(text_cstr(&print->stream), text_cstr(&owner)) == 0;
    if (goes_on)
        output_dim(print->notes);
    else
        begin_note(print);
    struct slice rest = told->text;
    while (rest.length) {
        const char *end = memchr(rest.data, '\n', rest.length);
        size_t length = end ? (size_t)(end - rest.data) + 1 : rest.length;
        if (print->notes->at_line_start)
            begin_stream_line(print, told);
        show_note_text(print->notes, (struct slice){rest.data, length}, true, 0);
        rest = (struct slice){rest.data + length, rest.length - length};
    }
    output_plain(print->notes);
    if (told->notice)
        output_end_line(print->notes);
    output_flush(print->notes);
    text_release(&print->stream);
    print->stream = owner;
}

static void show_progress(struct print *print, const struct tool_progress *told)
{
    if (told->stream)
        show_stream(print, told);
    else
        show_number(print, told);
}

static void show_retry(struct print *print, const struct event *event)
{
    begin_note(print);
    output_printf(print->notes, "attempt %u failed: ", event->as.retry.attempt);
    show_string(print, event->as.retry.reason->message);
    output_printf(print->notes, "; again in %.1f s", (double)event->as.retry.wait_ms / 1000);
    end_note(print);
}

static void show_note(struct print *print, const char *lead, struct slice text)
{
    begin_note(print);
    output_own(print->notes, lead);
    show_note_text(print->notes, text, true, 0);
    end_note(print);
}

static void show_hook(struct print *print, const struct event *event)
{
    begin_note(print);
    show_string(print, event->as.hook.hook);
    output_printf(print->notes, " at %s: %s", event->as.hook.event, event->as.hook.decision);
    if (event->as.hook.reason) {
        output_own(print->notes, ": ");
        show_string(print, event->as.hook.reason);
    }
    end_note(print);
}

/* Only what the provider has said. */
static void show_usage(struct print *print, const struct usage *usage)
{
    const struct {
        int64_t tokens;
        const char *what;
    } numbers[] = {{usage->input_tokens, "in"},
                   {usage->output_tokens, "out"},
                   {usage->cached_tokens, "from the cache"}};
    const char *lead = "tokens: ";
    begin_note(print);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        if (numbers[i].tokens < 0)
            continue;
        output_printf(print->notes, "%s%lld %s", lead, (long long)numbers[i].tokens,
                      numbers[i].what);
        lead = ", ";
    }
    end_note(print);
}

/* Text and refusals are the answer; reasoning is a note. */
static void show_delta(struct print *print, const struct event *event)
{
    enum block_kind kind = event->as.block.kind;
    struct slice text = event->as.block.text;
    if (kind == BLOCK_TEXT || kind == BLOCK_REFUSAL) {
        output_end_line(print->notes); /* a server may begin the text amid its reasoning */
        output_flush(print->notes);
        print->rendered = print->rendered && text_api(); /* loaded by the first text only */
        if (print->rendered)
            markdown_feed(&print->markdown, text.data, text.length);
        else
            output_foreign(print->answer, text.data, text.length);
    } else if (kind == BLOCK_REASONING && print->detail >= PRINT_MORE) {
        output_flush(print->answer);
        output_dim(print->notes);
        output_foreign(print->notes, text.data, text.length);
        output_plain(print->notes);
    }
}

static void flush(struct print *print)
{
    output_flush(print->answer);
    output_flush(print->notes);
}

static void show_stop(struct print *print, const struct event *event)
{
    if (event->as.block.kind == BLOCK_REASONING)
        output_end_line(print->notes);
    else
        markdown_end(&print->markdown);
    flush(print);
}

static void show(void *self, const struct event *event)
{
    struct print *print = self;
    switch (event->kind) {
    case EVENT_BLOCK_DELTA:
        show_delta(print, event);
        break;
    case EVENT_BLOCK_STOP:
        show_stop(print, event);
        break;
    case EVENT_SETTLED:
        flush(print);
        if (print->notes->at_line_start)
            progress_draw(&print->progress);
        break;
    case EVENT_TURN_END:
        markdown_end(&print->markdown); /* of a block that broke off */
        output_end_line(print->answer);
        flush(print);
        break;
    case EVENT_TOOL_CALL:
        show_call(print, event);
        break;
    case EVENT_TOOL_RESULT:
        show_result(print, event);
        break;
    case EVENT_TOOL_PROGRESS:
        show_progress(print, event_tool_progress(event));
        break;
    case EVENT_RETRY:
        show_retry(print, event);
        break;
    case EVENT_RESET:
        markdown_drop(&print->markdown);
        show_note(print, "what was shown of the answer is void: ",
                  (struct slice){event->as.reset.reason, strlen(event->as.reset.reason)});
        break;
    case EVENT_STATUS:
        show_note(print, "", event->as.status.text);
        break;
    case EVENT_HOOK:
        show_hook(print, event);
        break;
    case EVENT_USAGE:
        show_usage(print, &event->as.usage);
        break;
    default:
        break;
    }
}

bool print_register(struct print *print, struct output *answer, struct output *notes,
                    enum print_detail detail, struct timeline *timeline)
{
    uint32_t kinds = EVENT_BIT(EVENT_BLOCK_DELTA) | EVENT_BIT(EVENT_BLOCK_STOP) |
                     EVENT_BIT(EVENT_SETTLED) | EVENT_BIT(EVENT_TURN_END) | EVENT_BIT(EVENT_RESET);
    if (detail >= PRINT_NORMAL)
        kinds |= EVENT_BIT(EVENT_TOOL_CALL) | EVENT_BIT(EVENT_TOOL_RESULT) |
                 EVENT_BIT(EVENT_TOOL_PROGRESS) | EVENT_BIT(EVENT_RETRY) | EVENT_BIT(EVENT_STATUS);
    if (detail >= PRINT_MORE)
        kinds |= EVENT_BIT(EVENT_HOOK) | EVENT_BIT(EVENT_USAGE);
    *print = (struct print){.answer = answer, .notes = notes, .detail = detail};
    print->rendered = markdown_suits(answer);
    markdown_init(&print->markdown, answer, 0);
    progress_init(&print->progress, notes);
    return timeline_add(timeline, kinds, show, print);
}

void print_release(struct print *print)
{
    markdown_release(&print->markdown);
    progress_release(&print->progress);
    text_release(&print->stream);
}
