/* thread - threads of the bridge's own, and waiting with a time limit. */
#ifndef THREAD_H
#define THREAD_H

#include <pthread.h>
#include <stdint.h>

/* No signal of the process's is for such a thread.  0, or the reason as errno has it. */
int thread_start(pthread_t *thread, void *(*run)(void *data), void *data);

/* A condition that is waited for until a time of pause_now_ms(); -1: for ever. */
void thread_news_init(pthread_cond_t *news);
void thread_sleep_locked(pthread_cond_t *news, pthread_mutex_t *lock, int64_t until_ms);

#endif
