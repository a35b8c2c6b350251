/*
 * The control socket of a process, at its end.  The main thread reads it while it serves; while the
 * plugin is loaded or closed, whoever waits for an answer does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "remote/serve_private.h"

static struct {
    struct parcel_in in;
    pthread_mutex_t sending;
    pthread_mutex_t asking; /* one thing at a time */
    pthread_mutex_t lock;   /* for what follows */
    pthread_cond_t changed;
    bool is_serving; /* the main thread reads */
    bool is_answered;
    char *answer;  /* or NULL */
    int answer_fd; /* or -1 */
} control = {.in = {.takes_fds = true},
             .sending = PTHREAD_MUTEX_INITIALIZER,
             .asking = PTHREAD_MUTEX_INITIALIZER,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .changed = PTHREAD_COND_INITIALIZER};

void serve_give_up(void)
{
    _exit(SERVE_LOST);
}

/* ---- messages ---- */

bool control_send(struct text *message)
{
    pthread_mutex_lock(&control.sending);
    bool sent = parcel_send(SERVE_FD, message, -1);
    pthread_mutex_unlock(&control.sending);
    text_release(message);
    return sent;
}

void control_next(struct parcel *message)
{
    enum parcel_next next;
    while ((next = parcel_next(&control.in, message)) == PARCEL_NONE)
        if (parcel_read(SERVE_FD, &control.in, 0) <= 0)
            serve_give_up();
    if (next == PARCEL_WRONG)
        serve_give_up();
}

int control_take_fd(void)
{
    if (!control.in.fd_count)
        return -1;
    int fd = control.in.fds[0];
    control.in.fd_count--;
    memmove(control.in.fds, control.in.fds + 1, control.in.fd_count * sizeof(int));
    return fd;
}

struct parcel_in *control_in(void)
{
    return &control.in;
}

/* ---- asking ---- */

static void read_answer_locked(struct parcel *message)
{
    const char *value = parcel_string(message);
    control.answer = value ? strdup(value) : NULL;
    control.answer_fd = message->type == PARCEL_OWN_LANE && !value ? control_take_fd() : -1;
    control.is_answered = true;
}

static char *wait_for_answer(int *fd)
{
    struct parcel message;
    pthread_mutex_lock(&control.lock);
    while (!control.is_answered)
        if (control.is_serving) {
            pthread_cond_wait(&control.changed, &control.lock);
        } else {
            control_next(&message);
            read_answer_locked(&message);
        }
    control.is_answered = false;
    char *answer = control.answer;
    *fd = control.answer_fd;
    control.answer = NULL;
    pthread_mutex_unlock(&control.lock);
    return answer;
}

/* NULL: nothing; *fd: -1, or what came with it. */
static char *ask(struct text *message, int *fd)
{
    *fd = -1;
    pthread_mutex_lock(&control.asking);
    char *answer = control_send(message) ? wait_for_answer(fd) : NULL;
    pthread_mutex_unlock(&control.asking);
    return answer;
}

char *serve_secret(const char *name)
{
    if (serve_is_for_calls()) /* what is in its memory is in that of all calls */
        return NULL;
    struct text message = TEXT_INIT;
    parcel_begin(&message, PARCEL_SECRET);
    parcel_put_string(&message, name);
    int fd;
    return ask(&message, &fd);
}

/* A call that ends after this must not be faster, or the next request would be made without it. */
void serve_changed(void)
{
    struct text message = TEXT_INIT;
    int fd;
    parcel_begin(&message, PARCEL_CHANGED);
    free(ask(&message, &fd));
}

int serve_own_lane(char problem[SERVE_PROBLEM])
{
    struct text message = TEXT_INIT;
    parcel_begin(&message, PARCEL_LANE_WANTED);
    int fd;
    char *why = ask(&message, &fd);
    if (fd < 0)
        snprintf(problem, SERVE_PROBLEM, "%s", why ? why : "the host does not answer");
    free(why);
    return fd;
}

/* ---- for the main thread ---- */

void control_answer(struct parcel *message)
{
    pthread_mutex_lock(&control.lock);
    read_answer_locked(message);
    pthread_cond_signal(&control.changed);
    pthread_mutex_unlock(&control.lock);
}

void control_serve(bool is_serving)
{
    pthread_mutex_lock(&control.lock);
    control.is_serving = is_serving;
    pthread_cond_signal(&control.changed);
    pthread_mutex_unlock(&control.lock);
}
