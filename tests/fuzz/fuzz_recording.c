/* Any file as a recording: it is refused, or replayed with stand-ins for everything, to its end. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "record/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t limit(void *self, const char *tool)
{
    (void)self;
    (void)tool;
    return 1000;
}

static struct worker *make_worker(struct replay *replay, struct client *client,
                                  struct registry *registry, struct error *error)
{
    const struct worker_options options = {
        .client = client,
        .registry = registry,
        .latest = replay_registry,
        .latest_data = replay,
        .config = REQUEST_CONFIG_INIT,
        .max_turns = 20,
        .timeout_ms = -1,
        .result_limit = limit,
        .hook_tape = replay_hook_tape(replay),
        .call_tape = replay_call_tape(replay),
    };
    return worker_new(&options, error);
}

static void replay_one(struct replay *replay, const struct replay_run *run)
{
    struct error error = ERROR_INIT;
    struct worker_result result = {0};
    struct client *client = replay_client(replay, &error);
    struct registry *registry = client ? replay_registry(replay) : NULL;
    struct worker *worker = registry ? make_worker(replay, client, registry, &error) : NULL;
    if (worker && (!run->has_history || worker_restore(worker, run->items, run->item_count,
                                                       run->started, run->started_count, &error))) {
        replay_begin(replay, worker);
        if (run->has_prompt)
            worker_run(worker, text_cstr(&run->prompt), run->prompt.length, &result);
        else
            worker_resume(worker, &result);
        replay_end(replay, &result);
    }
    worker_result_release(&result);
    worker_free(worker);
    registry_unref(registry);
    client_free(client);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct error error = ERROR_INIT;
    const struct replay_run *run;
    log_set_level(LOG_ERROR);
    int fd = memfd_create("recording", MFD_CLOEXEC);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (fd < 0 || !file_write_fd(fd, (const char *)data, size))
        abort();
    struct replay *replay = replay_open(path, false, &error);
    if (!replay && (error.kind != ERROR_USAGE || !*error.message))
        abort();
    if (replay && replay_next(replay, &run, &error))
        replay_one(replay, run);
    replay_free(replay);
    close(fd);
    return 0;
}
