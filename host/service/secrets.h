/*
 * secrets - what the configuration grants to single plugins, read when it is first asked for.
 *
 * A value is kept, and registered with base/secret.h, until the services end; a plugin that is
 * loaded again gets it read again.  Thread-safe.
 */
#ifndef SERVICE_SECRETS_H
#define SERVICE_SECRETS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct secrets {
    char *grants; /* config/grant.h; NULL: none */
    pthread_mutex_t lock;
    struct {
        struct kept_secret {
            uint64_t plugin; /* host_api_number() */
            char *name;
            char *value;
        } * items;
        size_t count, capacity;
    } kept;
};

void secrets_init(struct secrets *secrets);
void secrets_release(struct secrets *secrets);

#endif
