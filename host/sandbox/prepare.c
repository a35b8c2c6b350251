#include <stdlib.h>
#include <unistd.h>

#include "sandbox/landlock.h"
#include "sandbox/prepared.h"

static unsigned filter_kind(const struct sandbox_rules *rules, int version)
{
    bool runs = rules->executable && rules->executable[0];
    unsigned kind = 0;
    kind |= rules->may_fork ? FILTER_FORK : 0;
    kind |= runs ? FILTER_EXEC : 0;
    kind |= rules->network ? FILTER_NETWORK : 0;
    kind |= rules->links ? FILTER_LINKS : 0;
    kind |= rules->modes ? FILTER_MODES : 0;
    kind |= rules->lasting ? FILTER_LASTING : 0;
    if (rules->code == SANDBOX_CODE_ANY)
        kind |= FILTER_CODE_ANY;
    else if (runs || rules->code == SANDBOX_CODE_FILES)
        kind |= FILTER_CODE_FILES;
    kind |= version >= LANDLOCK_HOLDS_SIGNALS ? FILTER_SIGNALS : 0;
    kind |= version >= LANDLOCK_TRUNCATES ? FILTER_TRUNCATES : 0;
    return kind;
}

static bool make_layers(struct sandbox *sandbox, const struct sandbox_rules *rules, int version,
                        struct error *error)
{
    sandbox->filter = filter_get(filter_kind(rules, version), error);
    if (!sandbox->filter)
        return false;
    sandbox->ruleset = landlock_make(rules, version, error);
    return sandbox->ruleset >= 0;
}

struct sandbox *sandbox_prepare(const struct sandbox_rules *rules, struct error *error)
{
    return sandbox_probe_required(error) ? sandbox_prepare_version(rules, landlock_version(), error)
                                         : NULL;
}

struct sandbox *sandbox_prepare_version(const struct sandbox_rules *rules, int version,
                                        struct error *error)
{
    struct sandbox *sandbox = calloc(1, sizeof(*sandbox));
    if (!sandbox) {
        error_memory(error);
        return NULL;
    }
    sandbox->ruleset = -1;
    sandbox->limits = rules->limits;
    sandbox->namespaces = rules->namespaces;
    sandbox->may_fork = rules->may_fork;
    sandbox->network = rules->network;
    sandbox->keep_descriptors = rules->keep_descriptors;
    if (make_layers(sandbox, rules, version, error))
        return sandbox;
    sandbox_free(sandbox);
    return NULL;
}

void sandbox_free(struct sandbox *sandbox)
{
    if (!sandbox)
        return;
    if (sandbox->ruleset >= 0)
        close(sandbox->ruleset);
    free(sandbox);
}
