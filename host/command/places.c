#include "command/places.h"

#include <stdlib.h>

#include "command/app.h"
#include "config/grant.h"
#include "config/paths.h"

struct services *places_services(const struct settings *settings)
{
    struct text grants = TEXT_INIT;
    char *artifacts = path_state("artifacts");
    char *database = path_state("plugin-data.db");
    grant_write_all(&grants, settings);
    const struct services_settings places = {
        .artifacts = artifacts,
        .database = database,
        .grants = text_cstr(&grants),
        .network = app_network(settings)};
    struct services *services =
        artifacts && database && !grants.failed ? services_new(&places) : NULL;
    free(artifacts);
    free(database);
    text_release(&grants);
    return services;
}

bool places_forget_session(const char *session, bool *any, struct error *error)
{
    char *artifacts = path_state("artifacts");
    char *database = path_state("plugin-data.db");
    const struct services_settings places = {.artifacts = artifacts, .database = database};
    bool ok = artifacts && database ? services_forget_session(&places, session, any, error)
                                    : error_memory(error);
    free(artifacts);
    free(database);
    return ok;
}
