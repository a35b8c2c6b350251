/* services_private - what the files of this folder share: the state of all services. */
#ifndef SERVICE_SERVICES_PRIVATE_H
#define SERVICE_SERVICES_PRIVATE_H

#include <mortise/services.h>

#include "service/database.h"
#include "service/http_pool.h"
#include "service/secrets.h"
#include "service/services.h"

struct services {
    struct host_services face; /* first: plugins hold its address */
    struct artifact_store artifacts;
    struct database database;
    struct secrets secrets;
    struct http_pool http;
};

struct services *services_of(struct host_services *face);

extern const mortise_artifacts artifacts_table;
extern const mortise_memory memory_table;
extern const mortise_state_service state_table;
extern const mortise_secrets secrets_table;
extern const mortise_http http_table;

#endif
