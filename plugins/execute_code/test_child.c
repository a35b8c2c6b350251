#include "test_child.h"

#include <mortise/json.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What the interpreters keep to the end of the process. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpython3\nleak:libcrypto\nleak:libjavascriptcoregtk\n";
}

/* Zeroed memory that lives for ever, and is not lost. */
static void *kept_memory(size_t size)
{
    static struct kept {
        struct kept *next;
        max_align_t memory[];
    } *newest;
    struct kept *kept = calloc(1, sizeof(*kept) + size);
    if (!kept)
        abort();
    kept->next = newest;
    newest = kept;
    return kept->memory;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* What was shown on one stream, as one text. */
static const char *join(const mortise_test_result *result, const char *stream, size_t *length)
{
    char *text = NULL;
    FILE *all = open_memstream(&text, length);
    for (size_t i = 0; i < result->progress_count; i++)
        if (result->progress[i].stream && strcmp(result->progress[i].stream, stream) == 0)
            fwrite(result->progress[i].text, 1, result->progress[i].length, all);
    fclose(all);
    char *kept = memcpy(kept_memory(*length + 1), text, *length);
    free(text);
    return kept;
}

const struct answer *child_run(mortise_test *test, const mortise_tool *tool, const void *args,
                               int64_t most_ms)
{
    struct answer *answer = kept_memory(sizeof(*answer));
    int64_t begin = now_ms();
    mortise_test_patience(test, most_ms);
    const mortise_test_result *result = mortise_test_run(test, tool, args);
    answer->ms = now_ms() - begin;
    answer->is_ok = result->status == MORTISE_OK;
    answer->end = result->category == MORTISE_TIMEOUT ? -1 : 0;
    answer->text = answer->is_ok ? result->text : result->message;
    answer->length = strlen(answer->text);
    answer->code = result->code;
    answer->shown[0] = join(result, "stdout", &answer->shown_length[0]);
    answer->shown[1] = join(result, "stderr", &answer->shown_length[1]);
    answer->chunks = result->progress_count;
    return answer;
}

const char *answer_member(const struct answer *answer, const char *name)
{
    const char *json = answer->text, *value = NULL;
    char found[64];
    if (!answer->is_ok && (json = strrchr(json, '\n')))
        json++;
    while (json && mortise_json_next_member(json, &value, found, sizeof(found)) == MORTISE_OK)
        if (strcmp(found, name) == 0) {
            size_t length = mortise_json_length(value);
            return memcpy(kept_memory(length + 1), value, length);
        }
    return "";
}
