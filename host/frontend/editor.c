#include "frontend/editor.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/utf8.h"
#include "frontend/editor_history.h"
#include "frontend/editor_state.h"
#include "frontend/styled.h"
#include "frontend/terminal.h"

enum {
    LARGEST_PASTE = 8 << 20,
    REMEMBERED_LINES = 10, /* longer inputs are not kept in history */
    REMEMBERED_BYTES = 8 << 10
};

struct editor *editor_current;

/* ---- keys ---- */

static unsigned char on_clear(EditLine *line, wint_t key)
{
    (void)line, (void)key;
    editor_current->cleared = true;
    return CC_EOF;
}

static unsigned char on_suspend(EditLine *line, wint_t key)
{
    (void)line, (void)key;
    editor_suspend(editor_current, true);
    return editor_attend(editor_current) ? CC_REDISPLAY : CC_EOF;
}

static unsigned char on_new_line(EditLine *line, wint_t key)
{
    (void)key;
    editor_current->api->winsertstr(line, L"\n");
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
            editor_append_wide(pasted, character == L'\r' ? L"\n" : &character, 1);
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
    editor_insert(editor, label.data, label.length);
    struct paste *paste = &editor->pastes.items[editor->pastes.count++];
    paste->label = text_take(&label, NULL);
    paste->text = text_take(pasted, &paste->length);
}

static unsigned char on_paste(EditLine *line, wint_t key)
{
    struct editor *editor = editor_current;
    struct text pasted = TEXT_INIT;
    (void)line, (void)key;
    if (!read_paste(editor, &pasted)) {
        text_release(&pasted);
        return editor->stopped || editor->ended ? CC_EOF : CC_REFRESH;
    }
    if (pasted.length && memchr(pasted.data, '\n', pasted.length))
        keep_paste(editor, &pasted);
    else
        editor_insert(editor, text_cstr(&pasted), pasted.length);
    text_release(&pasted);
    return CC_REFRESH;
}

/* ---- making ---- */

static wchar_t *show_prompt(EditLine *line)
{
    (void)line;
    return editor_current->more ? editor_current->more_prompt : editor_current->prompt;
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
        {L"mortise-editor_suspend", L"stop the program", on_suspend, {L"^Z"}},
        {L"mortise-new-line", L"another line", on_new_line, {L"\\e\\r", L"\\e\\n"}},
        {L"mortise-complete", L"complete a name", editor_complete, {L"\\t"}},
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
    wchar_t *wide = clean.failed ? NULL : editor_to_wide(text_cstr(&clean), clean.length);
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
    editor_current = editor;
    fill_prompts(editor);
    api->wset(editor->line, EL_PROMPT, show_prompt);
    api->wset(editor->line, EL_GETCFN, editor_read_character);
    api->history_w(editor->history, &event, H_SETSIZE, 1000);
    api->history_w(editor->history, &event, H_SETUNIQUE, 1);
    api->wset(editor->line, EL_HIST, api->history_w, editor->history);
    bind_keys(editor);
    if (editor->history_path)
        editor_history_load(editor->history_path, take_entry, editor);
    editor_raw_mode(editor, false);
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
    editor_current = NULL;
}

/* ---- reading ---- */

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
    wchar_t *wide = editor_to_wide(line->data, line->length);
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
    editor_append_wide(line, wide, (size_t)count);
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
            editor_write("^C\n");
            editor->cleared = false;
            editor->more = false;
            text_reset(line);
            drop_pastes(editor);
        } else {
            editor_write("\n");
            return editor->stopped ? EDITOR_STOPPED : EDITOR_EOF;
        }
    }
}

enum editor_end editor_read(struct editor *editor, const struct cancel *stop, struct text *line)
{
    struct sigaction kept[EDITOR_SIGNALS];
    text_reset(line);
    editor->stop = stop;
    editor->more = editor->stopped = editor->cleared = false;
    terminal_restore(); /* a plugin may have changed it */
    editor->api->resize(editor->line); /* nobody watched since the last line */
    editor_watch_signals(kept);
    terminal_bracketed_paste(true);
    enum editor_end end = read_input(editor, line);
    terminal_bracketed_paste(false);
    editor_unwatch_signals(kept);
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
