#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* ---- showing ---- */

/* Reads one character of UTF-8 that may be wrong: then it is its first byte, as U+FFFD. */
static size_t read_character(const unsigned char *p, size_t left, uint32_t *code)
{
    size_t length = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    *code = length == 1 ? p[0] : 0xfffd;
    if (length <= 1 || length > left || p[0] > 0xf4)
        return 1;
    uint32_t value = p[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 1;
        value = value << 6 | (p[i] & 0x3f);
    }
    *code = value;
    return length;
}

static bool is_harmless(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } harmful[] = {{0x00, 0x1f},       {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
                   {0x115f, 0x1160},   {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},
                   {0x2060, 0x206f},   {0x3164, 0x3164}, {0xd800, 0xdfff}, {0xfe00, 0xfe0f},
                   {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff0, 0xfffd}, {0xe0000, 0xe0fff},
                   {0xf0000, 0x10ffff}};
    for (size_t i = 0; i < sizeof(harmful) / sizeof(harmful[0]); i++)
        if (code >= harmful[i].first && code <= harmful[i].last)
            return false;
    return true;
}

char *terminal_harmless(const char *text, size_t length)
{
    char *shown = NULL;
    size_t shown_length;
    FILE *out = open_memstream(&shown, &shown_length);
    if (!out)
        return NULL;
    for (size_t i = 0; i < length;) {
        uint32_t code;
        size_t taken = read_character((const unsigned char *)text + i, length - i, &code);
        if (is_harmless(code))
            fwrite(text + i, 1, taken, out);
        else
            fprintf(out, "\\u%04x", (unsigned)code);
        i += taken;
    }
    if (fclose(out) != 0) {
        free(shown);
        return NULL;
    }
    return shown;
}

/* Everything is shown, however long: what is not seen cannot be allowed. */
static bool put_arguments(FILE *out, json_t *arguments)
{
    const char *key;
    json_t *argument;
    json_object_foreach (arguments, key, argument) {
        char *value = json_dumps(argument, JSON_ENCODE_ANY);
        char *name = terminal_harmless(key, strlen(key));
        char *shown = value ? terminal_harmless(value, strlen(value)) : NULL;
        bool complete = name && shown;
        if (complete)
            fprintf(out, "  %s: %s\n", name, shown);
        free(value);
        free(name);
        free(shown);
        if (!complete)
            return false;
    }
    return true;
}

static char *write_question(const char *tool, json_t *arguments, const char *reason)
{
    char *question = NULL;
    size_t length;
    char *name = terminal_harmless(tool, strlen(tool));
    char *why = terminal_harmless(reason ? reason : "", reason ? strlen(reason) : 0);
    FILE *out = open_memstream(&question, &length);
    bool complete = name && why && out;
    if (complete) {
        fprintf(out, "\r\nThe model wants to call %s\n", name);
        complete = put_arguments(out, arguments);
        if (*why)
            fprintf(out, "(%s)\n", why);
        fprintf(out, "Allow it? y/N/a (a: always in this run) ");
    }
    if (out && fclose(out) != 0)
        complete = false;
    if (!complete) {
        free(question);
        question = NULL;
    }
    free(name);
    free(why);
    return question;
}

/* ---- asking ---- */

static bool write_all(int fd, const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        ssize_t n = write(fd, text, left);
        if (n < 0 && errno != EINTR)
            return false;
        text += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Reads a line; an interrupt, a hangup and the end of input are no answer. */
static enum answer read_answer(int fd)
{
    char line[64];
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (poll(&ready, 1, -1) != 1)
        return ANSWER_NO;
    ssize_t n = read(fd, line, sizeof(line) - 1);
    if (n <= 0)
        return ANSWER_NO;
    line[n] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    if (!strcmp(line, "y") || !strcmp(line, "Y") || !strcmp(line, "yes"))
        return ANSWER_YES;
    if (!strcmp(line, "a") || !strcmp(line, "A") || !strcmp(line, "always"))
        return ANSWER_ALWAYS;
    return ANSWER_NO;
}

static enum answer ask_locked(const char *question)
{
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return ANSWER_NOBODY;
    enum answer answer = ANSWER_NOBODY;
    /* In the background we would be stopped.  What was typed before the question was there is
     * no answer to it. */
    if (tcgetpgrp(fd) == getpgrp() && write_all(fd, question) && tcflush(fd, TCIFLUSH) == 0)
        answer = read_answer(fd);
    close(fd);
    return answer;
}

enum answer terminal_ask(const char *tool, json_t *arguments, const char *reason)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    char *question = write_question(tool, arguments, reason);
    if (!question)
        return ANSWER_NO;
    pthread_mutex_lock(&lock);
    enum answer answer = ask_locked(question);
    pthread_mutex_unlock(&lock);
    free(question);
    return answer;
}
