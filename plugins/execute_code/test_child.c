#include "test_child.h"

#include <mortise/json.h>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- in the child ---- */

static void put(FILE *out, const void *bytes, size_t length)
{
    fwrite(&length, sizeof(length), 1, out);
    fwrite(bytes, 1, length, out);
}

static void put_shown(FILE *out, const mortise_test_result *result, const char *stream)
{
    char *text = NULL;
    size_t size = 0;
    FILE *all = open_memstream(&text, &size);
    for (size_t i = 0; i < result->progress_count; i++)
        if (result->progress[i].stream && strcmp(result->progress[i].stream, stream) == 0)
            fwrite(result->progress[i].text, 1, result->progress[i].length, all);
    fclose(all);
    put(out, text, size);
    free(text);
}

static void run_in_child(mortise_test *test, const mortise_tool *tool, const void *args, int fd)
{
    FILE *out = fdopen(fd, "w");
    const mortise_test_result *result = mortise_test_run(test, tool, args);
    const char *text = result->status == MORTISE_OK ? result->text : result->message;
    put(out, &result->status, sizeof(result->status));
    put(out, text, result->status == MORTISE_OK ? result->length : strlen(text));
    put(out, result->code ? result->code : "", result->code ? strlen(result->code) : 0);
    put_shown(out, result, "stdout");
    put_shown(out, result, "stderr");
    put(out, &result->progress_count, sizeof(result->progress_count));
    fclose(out);
    _exit(0);
}

/* ---- in the parent ---- */

static char *get(const char **at, const char *end, size_t *length)
{
    size_t size = 0;
    if ((size_t)(end - *at) >= sizeof(size)) {
        memcpy(&size, *at, sizeof(size));
        *at += sizeof(size);
    }
    size = (size_t)(end - *at) < size ? (size_t)(end - *at) : size;
    char *copy = calloc(1, size + sizeof(int64_t));
    memcpy(copy, *at, size);
    *at += size;
    *length = size;
    return copy;
}

static void remove_folder(const char *folder)
{
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (unlink(path) != 0)
            rmdir(path);
    }
    if (entries)
        closedir(entries);
    rmdir(folder);
}

static void read_answer(struct answer *answer, const char *bytes, size_t size)
{
    const char *at = bytes, *end = bytes + size;
    size_t length;
    mortise_status status = *(mortise_status *)(void *)get(&at, end, &length);
    answer->is_ok = length && status == MORTISE_OK;
    answer->text = get(&at, end, &answer->length);
    answer->code = get(&at, end, &length);
    answer->shown[0] = get(&at, end, &answer->shown_length[0]);
    answer->shown[1] = get(&at, end, &answer->shown_length[1]);
    answer->chunks = *(size_t *)(void *)get(&at, end, &length);
}

const struct answer *child_run(mortise_test *test, const mortise_tool *tool, const void *args,
                               int64_t most_ms)
{
    static const size_t STEP = 1 << 16;
    struct answer *answer = calloc(1, sizeof(*answer));
    char folder[] = "/tmp/execute_code-XXXXXX", *bytes = NULL;
    size_t size = 0;
    int pipes[2];
    int64_t begin = now_ms();
    ssize_t got = 1;
    if (!mkdtemp(folder) || pipe2(pipes, O_CLOEXEC) != 0)
        abort();
    pid_t child = fork();
    if (child == 0) {
        if (chdir(folder) == 0)
            run_in_child(test, tool, args, pipes[1]);
        _exit(99);
    }
    close(pipes[1]);
    while (got > 0) {
        struct pollfd wait = {.fd = pipes[0], .events = POLLIN};
        int64_t left = begin + most_ms - now_ms();
        if (poll(&wait, 1, left > 0 ? (int)left : 0) == 0) {
            kill(child, SIGKILL);
            answer->end = -1;
        }
        bytes = realloc(bytes, size + STEP);
        got = read(pipes[0], bytes + size, STEP);
        size += got > 0 ? (size_t)got : 0;
    }
    close(pipes[0]);
    int status = 0;
    waitpid(child, &status, 0);
    answer->end = answer->end == -1 ? -1 : status;
    answer->ms = now_ms() - begin;
    read_answer(answer, bytes, size);
    free(bytes);
    remove_folder(folder);
    return answer;
}

const char *answer_member(const struct answer *answer, const char *name)
{
    const char *json = answer->text, *value = NULL;
    char found[64];
    if (!answer->is_ok && (json = strrchr(json, '\n')))
        json++;
    while (json && mortise_json_next_member(json, &value, found, sizeof(found)) == MORTISE_OK)
        if (strcmp(found, name) == 0)
            return strndup(value, mortise_json_length(value));
    return "";
}
