#include "base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"

struct job {
    struct job *next;
    void (*work)(void *argument);
    void *argument;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* work came, or the pool is closing */
    pthread_cond_t quiet;   /* while closing: nothing is at work any more */
    struct job *first;
    struct job **last;
    unsigned waiting; /* jobs in the list */
    unsigned idle;    /* threads that wait for one */
    unsigned busy;    /* threads inside work() */
    unsigned alive;   /* threads that still use this struct */
    bool closing;
    bool abandoned; /* the last thread frees the pool */
    unsigned limit;
    unsigned count;
    pthread_t threads[];
};

struct pool *pool_new(unsigned limit)
{
    if (!limit)
        limit = 1;
    struct pool *pool = calloc(1, sizeof(*pool) + limit * sizeof(pool->threads[0]));
    if (!pool)
        return NULL;
    pool->limit = limit;
    pool->last = &pool->first;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    pthread_cond_init(&pool->quiet, NULL);
    return pool;
}

static void destroy(struct pool *pool)
{
    pthread_cond_destroy(&pool->quiet);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

static void push_locked(struct pool *pool, struct job *job)
{
    *pool->last = job;
    pool->last = &job->next;
    pool->waiting++;
}

static struct job *pop_locked(struct pool *pool)
{
    struct job *job = pool->first;
    if (!job)
        return NULL;
    pool->first = job->next;
    if (!pool->first)
        pool->last = &pool->first;
    pool->waiting--;
    return job;
}

/* The next job, or NULL when the pool closes and none is left. */
static struct job *wait_locked(struct pool *pool)
{
    while (!pool->first && !pool->closing) {
        pool->idle++;
        pthread_cond_wait(&pool->changed, &pool->lock);
        pool->idle--;
    }
    return pop_locked(pool);
}

static void run_locked(struct pool *pool, struct job *job)
{
    struct job now = *job;
    free(job);
    pool->busy++;
    pthread_mutex_unlock(&pool->lock);
    now.work(now.argument);
    pthread_mutex_lock(&pool->lock);
    pool->busy--;
    if (pool->closing && !pool->busy)
        pthread_cond_signal(&pool->quiet);
}

static void *thread_main(void *argument)
{
    struct pool *pool = argument;
    struct job *job;
    pthread_mutex_lock(&pool->lock);
    while ((job = wait_locked(pool)))
        run_locked(pool, job);
    pool->alive--;
    bool last = pool->abandoned && !pool->alive;
    pthread_mutex_unlock(&pool->lock);
    if (last)
        destroy(pool);
    return NULL;
}

/* Signals are for the main thread: a new thread starts with all of them blocked. */
static bool add_thread_locked(struct pool *pool)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool made = pthread_create(&pool->threads[pool->count], NULL, thread_main, pool) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made) {
        pool->count++;
        pool->alive++;
    }
    return made;
}

/* Makes sure that some thread will come for one more job. */
static bool staff_locked(struct pool *pool)
{
    if (pool->closing)
        return false;
    if (pool->waiting < pool->idle) {
        pthread_cond_signal(&pool->changed);
        return true;
    }
    if (pool->count < pool->limit && add_thread_locked(pool))
        return true;
    return pool->count > 0;
}

bool pool_submit(struct pool *pool, void (*work)(void *argument), void *argument)
{
    struct job *job = malloc(sizeof(*job));
    if (!job)
        return false;
    *job = (struct job){.work = work, .argument = argument};
    pthread_mutex_lock(&pool->lock);
    bool staffed = staff_locked(pool);
    if (staffed)
        push_locked(pool, job);
    pthread_mutex_unlock(&pool->lock);
    if (!staffed)
        free(job);
    return staffed;
}

/* Closes the pool; returns how many threads are still at work after the grace.  What has
 * not begun by then never will: its argument may be gone. */
static unsigned close_locked(struct pool *pool, int grace_ms)
{
    const struct timespec deadline = clock_after_ms(grace_ms > 0 ? grace_ms : 0);
    pool->closing = true;
    pthread_cond_broadcast(&pool->changed);
    while (pool->busy || pool->first)
        if (pthread_cond_clockwait(&pool->quiet, &pool->lock, CLOCK_MONOTONIC, &deadline) != 0)
            break;
    struct job *job;
    while ((job = pop_locked(pool)))
        free(job);
    return pool->busy;
}

unsigned pool_free(struct pool *pool, int grace_ms)
{
    if (!pool)
        return 0;
    pthread_mutex_lock(&pool->lock);
    unsigned busy = close_locked(pool, grace_ms);
    if (busy) {
        pool->abandoned = true;
        for (unsigned i = 0; i < pool->count; i++)
            pthread_detach(pool->threads[i]);
    }
    pthread_mutex_unlock(&pool->lock);
    if (busy)
        return busy;

    for (unsigned i = 0; i < pool->count; i++)
        pthread_join(pool->threads[i], NULL);
    destroy(pool);
    return 0;
}
