#include "run.h"

#include <pthread.h>
#include <string.h>

bool run_on_thread(struct run *run, size_t stack_bytes, void *(*body)(void *data), void *data)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int problem = pthread_attr_init(&attributes);
    if (problem == 0) {
        problem = pthread_attr_setstacksize(&attributes, stack_bytes);
        if (problem == 0)
            problem = pthread_create(&thread, &attributes, body, data);
        pthread_attr_destroy(&attributes);
    }
    if (problem != 0) {
        mortise_fail(run->call, "cannot start a thread: %s", strerror(problem));
        return false;
    }
    pthread_join(thread, NULL);
    return true;
}

void run_tell(struct run *run, const char *members, size_t length)
{
    run->outcome = mortise_alloc(run->call, length + 1); /* zeroed */
    if (run->outcome)
        memcpy(run->outcome, members, length);
}
