#include "frontend/editor.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/array.h"
#include "base/utf8.h"
#include "frontend/edit_api.h"
#include "frontend/editor_history.h"
#include "frontend/styled.h"
#include "frontend/terminal.h"

enum {
    LARGEST_PASTE = 8 << 20,
    REMEMBERED_LINES = 10, /* longer inputs are not kept in history */
    REMEMBERED_BYTES = 8 << 10,
    LISTED = 100
};

struct paste {
    char *label; /* what stands for it in the line */
    char *text;
    size_t length;
};

struct editor {
    const struct edit_api *api;
    EditLine *line;
    HistoryW *history;
    wchar_t prompt[64];
    wchar_t more_prompt[64]; /* of further lines of one input */
    bool more;
    struct editor_settings settings;
    char *history_path;
    const struct cancel *stop;
    bool cleared; /* Ctrl-C */
    bool stopped;
    bool ended;
    unsigned char bytes[4]; /* of a character that is coming */
    struct {
        struct paste *items;
        size_t count, capacity;
    } pastes;
};

/* libedit's functions get no pointer of ours. */
static struct editor *current;
static volatile sig_atomic_t resized, continued, stop_asked;

/* ---- wide characters ---- */

static void append_wide(struct text *out, const wchar_t *wide, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        uint32_t code = (uint32_t)wide[i];
        char bytes[4];
        size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        for (size_t b = n - 1; b > 0; b--, code >>= 6)
            bytes[b] = (char)(0x80 | (code & 0x3F));
        bytes[0] = (char)(n == 1 ? code : (n == 2 ? 0xC0 : n == 3 ? 0xE0 : 0xF0) | code);
        text_append(out, bytes, n);
    }
}

/* Valid UTF-8 as wide characters, malloc'ed; NULL: no memory. */
static wchar_t *to_wide(const char *text, size_t length)
{
    wchar_t *wide = calloc(length + 1, sizeof(*wide));
    size_t n, count = 0;
    for (size_t i = 0; wide && i < length; i += n)
        wide[count++] = (wchar_t)styled_decode(text + i, length - i, &n);
    return wide;
}

static void insert(struct editor *editor, const char *text, size_t length)
{
    struct text visible = TEXT_INIT;
    utf8_append_visible(&visible, text, length);
    wchar_t *wide = visible.failed ? NULL : to_wide(text_cstr(&visible), visible.length);
    if (wide)
        editor->api->winsertstr(editor->line, wide);
    free(wide);
    text_release(&visible);
}

/* ---- the terminal, while a line is edited ---- */

static void raw_mode(struct editor *editor, bool on)
{
    editor->api->wset(editor->line, EL_PREP_TERM, on ? 1 : 0);
    terminal_bracketed_paste(on);
    if (!on)
        terminal_restore();
}

/* Stops this process as the terminal's own key would, with everything as it was found. */
static void suspend(struct editor *editor, bool whole_group)
{
    stop_asked = 0;
    raw_mode(editor, false);
    if (whole_group) {
        struct sigaction stops = {.sa_handler = SIG_DFL}, ours;
        sigaction(SIGTSTP, &stops, &ours);
        kill(0, SIGTSTP);
        sigaction(SIGTSTP, &ours, NULL);
    } else {
        kill(getpid(), SIGSTOP);
    }
    continued = 1;
}

static void write_string(const char *string)
{
    ssize_t ignored = write(STDOUT_FILENO, string, strlen(string));
    (void)ignored;
}

/* libedit draws the input anew from where the cursor is: that must be where it began.  The
 * terminal has broken its lines for the new width already. */
static void go_to_top(struct editor *editor)
{
    struct winsize size = {0};
    const LineInfoW *info = editor->api->wline(editor->line);
    unsigned rows = 0, column = (unsigned)wcslen(editor->prompt);
    char up[32];
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2)
        return;
    for (const wchar_t *at = info->buffer; at < info->cursor; at++) {
        unsigned width = styled_char_width(*at);
        bool breaks = *at == L'\n' || column + width > size.ws_col;
        rows += breaks;
        column = breaks ? 0 : column;
        column += *at == L'\n' ? 0 : width;
    }
    if (rows > 0) {
        snprintf(up, sizeof(up), "\033[%uA", rows);
        write_string(up);
    }
    write_string("\r\033[J");
}

/* False: what waits for a character is to end. */
static bool attend(struct editor *editor)
{
    if (cancel_requested(editor->stop)) {
        editor->stopped = true;
        return false;
    }
    if (stop_asked)
        suspend(editor, false);
    if (resized || continued) {
        if (continued)
            raw_mode(editor, true);
        if (resized)
            go_to_top(editor);
        resized = continued = 0;
        editor->api->resize(editor->line);
        editor->api->wset(editor->line, EL_REFRESH);
    }
    return true;
}

/* One byte of input: 1, 0 at the end, -1 when the editor is to stop. */
static int next_byte(struct editor *editor, unsigned char *byte)
{
    sigset_t all, before;
    struct pollfd waits[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                             {.fd = cancel_fd(editor->stop), .events = POLLIN}};
    sigfillset(&all);
    for (;;) {
        /* Signals come only while it waits, so none is missed before. */
        sigprocmask(SIG_SETMASK, &all, &before);
        bool on = !resized && !continued && !stop_asked;
        int ready = on ? ppoll(waits, 2, NULL, &before) : 0;
        sigprocmask(SIG_SETMASK, &before, NULL);
        if (!attend(editor))
            return -1;
        if (ready <= 0 || !waits[0].revents)
            continue;
        ssize_t n = read(STDIN_FILENO, byte, 1);
        if (n > 0)
            return 1;
        if (n == 0 || (errno != EINTR && errno != EAGAIN))
            return 0;
    }
}

/* Bytes become characters here, whatever the locale is. */
static int read_character(EditLine *line, wchar_t *character)
{
    struct editor *editor = current;
    size_t unused, count = 0;
    (void)line;
    for (;;) {
        int got = next_byte(editor, &editor->bytes[count]);
        if (got <= 0) {
            editor->ended = got == 0;
            return got;
        }
        unsigned char lead = editor->bytes[0];
        size_t wanted = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
        if (++count < wanted)
            continue;
        const char *bytes = (const char *)editor->bytes;
        *character = utf8_valid(bytes, count) == count
                         ? (wchar_t)styled_decode(bytes, count, &unused)
                         : (wchar_t)0xFFFD;
        return 1;
    }
}

/* ---- keys ---- */

static unsigned char on_clear(EditLine *line, wint_t key)
{
    (void)line, (void)key;
    current->cleared = true;
    return CC_EOF;
}

static unsigned char on_suspend(EditLine *line, wint_t key)
{
    (void)line, (void)key;
    suspend(current, true);
    return attend(current) ? CC_REDISPLAY : CC_EOF;
}

static unsigned char on_new_line(EditLine *line, wint_t key)
{
    (void)key;
    current->api->winsertstr(line, L"\n");
    return CC_REFRESH;
}

/* Everything up to the mark that ends a paste. */
static bool read_paste(struct editor *editor, struct text *pasted)
{
    static const char mark[] = "\033[201~";
    size_t length = sizeof(mark) - 1;
    wchar_t character;
    while (editor->api->wgetc(editor->line, &character) == 1) {
        if (pasted->length < LARGEST_PASTE || character == L'\033' || character < 0x80)
            append_wide(pasted, character == L'\r' ? L"\n" : &character, 1);
        if (pasted->length >= length &&
            memcmp(pasted->data + pasted->length - length, mark, length) == 0) {
            pasted->data[pasted->length -= length] = '\0';
            return !pasted->failed;
        }
    }
    return false;
}

static size_t count_lines(const char *text, size_t length)
{
    size_t lines = 1;
    for (size_t i = 0; i + 1 < length; i++)
        lines += text[i] == '\n';
    return lines;
}

static void keep_paste(struct editor *editor, struct text *pasted)
{
    struct text label = TEXT_INIT;
    size_t number = editor->pastes.count + 1;
    text_printf(&label, "[%zu lines pasted", count_lines(pasted->data, pasted->length));
    if (number > 1) /* so that no two are the same */
        text_printf(&label, ", #%zu", number);
    text_putc(&label, ']');
    if (label.failed || !array_reserve(&editor->pastes, 1)) {
        text_release(&label);
        return;
    }
    insert(editor, label.data, label.length);
    struct paste *paste = &editor->pastes.items[editor->pastes.count++];
    paste->label = text_take(&label, NULL);
    paste->text = text_take(pasted, &paste->length);
}

static unsigned char on_paste(EditLine *line, wint_t key)
{
    struct editor *editor = current;
    struct text pasted = TEXT_INIT;
    (void)line, (void)key;
    if (!read_paste(editor, &pasted)) {
        text_release(&pasted);
        return editor->stopped || editor->ended ? CC_EOF : CC_REFRESH;
    }
    if (pasted.length && memchr(pasted.data, '\n', pasted.length))
        keep_paste(editor, &pasted);
    else
        insert(editor, text_cstr(&pasted), pasted.length);
    text_release(&pasted);
    return CC_REFRESH;
}

/* ---- completion ---- */

static void list_matches(struct editor *editor, const char *word, size_t length)
{
    struct text list = TEXT_INIT;
    const char *name;
    size_t listed = 0;
    text_putc(&list, '\n');
    for (size_t i = 0; listed < LISTED && (name = editor->settings.candidate(
                                               editor->settings.candidate_data, i));
         i++)
        if (strncmp(name, word, length) == 0 && listed++ < LISTED)
            text_printf(&list, "%s  ", name);
    text_putc(&list, '\n');
    if (!list.failed && write(STDOUT_FILENO, list.data, list.length) < 0)
        editor->ended = true;
    text_release(&list);
}

/* What all names that begin so have in common, and how many there are. */
static size_t common_part(struct editor *editor, const char *word, size_t length,
                          const char **first, size_t *common)
{
    size_t matches = 0;
    const char *name;
    for (size_t i = 0; (name = editor->settings.candidate(editor->settings.candidate_data, i)); i++) {
        if (strncmp(name, word, length) != 0)
            continue;
        if (matches++ == 0) {
            *first = name;
            *common = strlen(name);
        }
        size_t same = 0;
        while (same < *common && name[same] == (*first)[same])
            same++;
        *common = same;
    }
    return matches;
}

static unsigned char on_complete(EditLine *line, wint_t key)
{
    struct editor *editor = current;
    const LineInfoW *info = editor->api->wline(line);
    const wchar_t *start = info->cursor;
    const char *first = NULL;
    size_t common = 0;
    (void)key;
    while (start > info->buffer && start[-1] != L' ' && start[-1] != L'\n')
        start--;
    if (start == info->cursor || !editor->settings.candidate)
        return CC_ERROR;
    struct text word = TEXT_INIT;
    append_wide(&word, start, (size_t)(info->cursor - start));
    size_t length = word.length;
    size_t matches = word.failed ? 0 : common_part(editor, word.data, length, &first, &common);
    unsigned char done = CC_ERROR;
    if (matches > 0) {
        done = CC_REFRESH;
        insert(editor, first + length, common - length);
        if (matches == 1) {
            insert(editor, " ", 1);
        } else if (common == length) {
            list_matches(editor, word.data, length);
            done = CC_REDISPLAY;
        }
    }
    text_release(&word);
    return done;
}

/* ---- making ---- */

static wchar_t *show_prompt(EditLine *line)
{
    (void)line;
    return current->more ? current->more_prompt : current->prompt;
}

static void bind_keys(struct editor *editor)
{
    const struct edit_api *api = editor->api;
    EditLine *line = editor->line;
    static const struct {
        const wchar_t *name, *help;
        unsigned char (*function)(EditLine *, wint_t);
        const wchar_t *keys[2];
    } bindings[] = {
        {L"mortise-paste", L"text that is pasted", on_paste, {L"\\e[200~"}},
        {L"mortise-clear", L"clear the input", on_clear, {L"^C"}},
        {L"mortise-suspend", L"stop the program", on_suspend, {L"^Z"}},
        {L"mortise-new-line", L"another line", on_new_line, {L"\\e\\r", L"\\e\\n"}},
        {L"mortise-complete", L"complete a name", on_complete, {L"\\t"}},
    };
    api->wset(line, EL_EDITOR, L"emacs");
    for (size_t i = 0; i < sizeof(bindings) / sizeof(*bindings); i++) {
        api->wset(line, EL_ADDFN, bindings[i].name, bindings[i].help, bindings[i].function);
        for (size_t k = 0; k < 2 && bindings[i].keys[k]; k++)
            api->wset(line, EL_BIND, bindings[i].keys[k], bindings[i].name, NULL);
    }
    static const struct {
        const wchar_t *key, *function;
    } usual[] = {{L"\\e[3~", L"ed-delete-next-char"}, {L"\\e[1;5D", L"ed-prev-word"},
                 {L"\\e[1;5C", L"em-next-word"},      {L"^R", L"em-inc-search-prev"},
                 {L"\\e[H", L"ed-move-to-beg"},       {L"\\e[F", L"ed-move-to-end"}};
    for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
        api->wset(line, EL_BIND, usual[i].key, usual[i].function, NULL);
    /* Ctrl-C, Ctrl-Z and Ctrl-\ are keys while a line is edited, not signals. */
    api->wset(line, EL_SETTY, L"-d", L"-isig", NULL);
}

static void take_entry(void *data, const char *entry)
{
    struct editor *editor = data;
    HistEventW event;
    struct text clean = TEXT_INIT;
    utf8_append_visible(&clean, entry, strlen(entry));
    wchar_t *wide = clean.failed ? NULL : to_wide(text_cstr(&clean), clean.length);
    if (wide)
        editor->api->history_w(editor->history, &event, H_ENTER, wide);
    free(wide);
    text_release(&clean);
}

static void fill_prompts(struct editor *editor)
{
    size_t n, count = 0, columns = 0, left = strlen(editor->settings.prompt);
    for (const char *p = editor->settings.prompt; left > 0 && count < 60; p += n, left -= n) {
        editor->prompt[count] = (wchar_t)styled_decode(p, left, &n);
        columns += styled_char_width(editor->prompt[count++]);
    }
    for (size_t i = 0; i < columns && i < 60; i++)
        editor->more_prompt[i] = i + 2 == columns ? L'·' : L' ';
}

/* libedit writes in the encoding of the locale. */
static void use_unicode(void)
{
    setlocale(LC_CTYPE, "");
    if (MB_CUR_MAX < 4)
        setlocale(LC_CTYPE, "C.UTF-8");
}

struct editor *editor_new(const struct editor_settings *settings, struct error *error)
{
    const struct edit_api *api = edit_api(error);
    struct editor *editor = api ? calloc(1, sizeof(*editor)) : NULL;
    HistEventW event;
    if (!api)
        return NULL;
    use_unicode();
    if (editor) {
        editor->api = api;
        editor->settings = *settings;
        editor->line = api->init("mortise", stdin, stdout, stderr);
        editor->history = api->history_winit();
        if (settings->history_path && *settings->history_path)
            editor->history_path = strdup(settings->history_path);
    }
    if (!editor || !editor->line || !editor->history) {
        error_memory(error);
        editor_free(editor);
        return NULL;
    }
    current = editor;
    fill_prompts(editor);
    api->wset(editor->line, EL_PROMPT, show_prompt);
    api->wset(editor->line, EL_GETCFN, read_character);
    api->history_w(editor->history, &event, H_SETSIZE, 1000);
    api->history_w(editor->history, &event, H_SETUNIQUE, 1);
    api->wset(editor->line, EL_HIST, api->history_w, editor->history);
    bind_keys(editor);
    if (editor->history_path)
        editor_history_load(editor->history_path, take_entry, editor);
    raw_mode(editor, false);
    return editor;
}

static void drop_pastes(struct editor *editor)
{
    for (size_t i = 0; i < editor->pastes.count; i++) {
        free(editor->pastes.items[i].label);
        free(editor->pastes.items[i].text);
    }
    editor->pastes.count = 0;
}

void editor_free(struct editor *editor)
{
    if (!editor)
        return;
    if (editor->line) {
        editor->api->end(editor->line);
        terminal_restore();
    }
    if (editor->history)
        editor->api->history_wend(editor->history);
    drop_pastes(editor);
    free(editor->pastes.items);
    free(editor->history_path);
    free(editor);
    current = NULL;
}

/* ---- reading ---- */

static void on_signal(int number)
{
    if (number == SIGWINCH)
        resized = 1;
    else if (number == SIGCONT)
        continued = 1;
    else
        stop_asked = 1;
}

static const int watched[] = {SIGWINCH, SIGCONT, SIGTSTP};
enum { WATCHED_COUNT = sizeof(watched) / sizeof(*watched) };

static void watch_signals(struct sigaction *kept)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < WATCHED_COUNT; i++)
        sigaction(watched[i], &action, &kept[i]);
}

static void unwatch_signals(const struct sigaction *kept)
{
    for (int i = 0; i < WATCHED_COUNT; i++)
        sigaction(watched[i], &kept[i], NULL);
}

/* Puts the pasted texts where their labels stand. */
static void expand(const struct editor *editor, struct text *line)
{
    struct text whole = TEXT_INIT;
    const char *at = text_cstr(line);
    while (*at) {
        const struct paste *found = NULL;
        for (size_t i = 0; *at == '[' && !found && i < editor->pastes.count; i++)
            if (strncmp(at, editor->pastes.items[i].label,
                        strlen(editor->pastes.items[i].label)) == 0)
                found = &editor->pastes.items[i];
        if (found) {
            text_append(&whole, found->text, found->length);
            at += strlen(found->label);
        } else {
            text_putc(&whole, *at++);
        }
    }
    text_release(line);
    *line = whole;
}

static void remember(struct editor *editor, const struct text *line)
{
    HistEventW event;
    if (line->failed || line->length == 0 || line->length > REMEMBERED_BYTES ||
        count_lines(line->data, line->length) > REMEMBERED_LINES)
        return;
    wchar_t *wide = to_wide(line->data, line->length);
    if (wide)
        editor->api->history_w(editor->history, &event, H_ENTER, wide);
    free(wide);
    if (editor->history_path)
        editor_history_add(editor->history_path, line->data, line->length);
}

/* Appends one line of the terminal; false: the input ends otherwise. */
static bool read_line(struct editor *editor, struct text *line)
{
    int count = 0;
    const wchar_t *wide = editor->api->wgets(editor->line, &count);
    if (!wide || count <= 0)
        return false;
    if (wide[count - 1] == L'\n')
        count--;
    append_wide(line, wide, (size_t)count);
    return true;
}

static bool goes_on(struct text *line)
{
    if (line->length == 0 || line->data[line->length - 1] != '\\')
        return false;
    line->data[line->length - 1] = '\n';
    return true;
}

static enum editor_end read_input(struct editor *editor, struct text *line)
{
    for (;;) {
        if (read_line(editor, line)) {
            editor->more = goes_on(line);
            if (!editor->more)
                return line->failed ? EDITOR_FAILED : EDITOR_LINE;
        } else if (editor->cleared) {
            write_string("^C\n");
            editor->cleared = false;
            editor->more = false;
            text_reset(line);
            drop_pastes(editor);
        } else {
            write_string("\n");
            return editor->stopped ? EDITOR_STOPPED : EDITOR_EOF;
        }
    }
}

enum editor_end editor_read(struct editor *editor, const struct cancel *stop, struct text *line)
{
    struct sigaction kept[WATCHED_COUNT];
    text_reset(line);
    editor->stop = stop;
    editor->more = editor->stopped = editor->cleared = false;
    terminal_restore(); /* a plugin may have changed it */
    editor->api->resize(editor->line); /* nobody watched since the last line */
    resized = continued = stop_asked = 0;
    watch_signals(kept);
    terminal_bracketed_paste(true);
    enum editor_end end = read_input(editor, line);
    terminal_bracketed_paste(false);
    unwatch_signals(kept);
    terminal_restore();
    if (end == EDITOR_LINE) {
        expand(editor, line);
        remember(editor, line);
        drop_pastes(editor);
        if (line->failed)
            end = EDITOR_FAILED;
    }
    return end;
}
