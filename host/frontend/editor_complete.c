#include <string.h>
#include <unistd.h>

#include "frontend/editor_state.h"

enum { LISTED = 100 };

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
    const struct editor_settings *names = &editor->settings;
    for (size_t i = 0; (name = names->candidate(names->candidate_data, i)); i++) {
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

unsigned char editor_complete(EditLine *line, wint_t key)
{
    struct editor *editor = editor_current;
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
    editor_append_wide(&word, start, (size_t)(info->cursor - start));
    size_t length = word.length;
    size_t matches = word.failed ? 0 : common_part(editor, word.data, length, &first, &common);
    unsigned char done = CC_ERROR;
    if (matches > 0) {
        done = CC_REFRESH;
        editor_insert(editor, first + length, common - length);
        if (matches == 1) {
            editor_insert(editor, " ", 1);
        } else if (common == length) {
            list_matches(editor, word.data, length);
            done = CC_REDISPLAY;
        }
    }
    text_release(&word);
    return done;
}
