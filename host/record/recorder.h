/*
 * recorder - writes a run down while it happens (recording.h has the format).
 *
 *     recorder = recorder_open(path, settings, &error);
 *     options.hook_tape = recorder_hook_tape(recorder);   // and call_tape
 *     worker = worker_new(&options, …);
 *     recorder_attach(recorder, worker, client);          // again for another worker
 *     recorder_run(recorder, prompt, length); worker_run(…); recorder_result(recorder, &result);
 *
 * One record is one write.  A disk that is full, or memory that is not there, ends the recording
 * with a warning and nothing else.  Secrets (base/secret.h) are masked before anything is written,
 * also where a secret comes in two pieces; a response that holds one in the pieces of its own
 * events, or that cannot be read without it, is left out.  The thread of the turn loop.
 */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include "config/settings.h"
#include "worker/worker.h"

struct recorder;

/* Makes the file, for the user alone, and writes its header.  NULL with *error (kind usage): it is
 * there already, or cannot be made. */
struct recorder *recorder_open(const char *path, const struct settings *settings,
                               struct error *error);
/* NULL is fine; the attached worker is freed before. */
void recorder_close(struct recorder *recorder);

/* The settings that a run depends on, which are kept and used when it is replayed. */
bool recorder_keeps_setting(enum setting_id id);

/* Whether there is anything to record of a client; false with *error (kind usage). */
bool recorder_can_take(const struct client *client, struct error *error);

const struct hook_tape *recorder_hook_tape(struct recorder *recorder);
const struct call_tape *recorder_call_tape(struct recorder *recorder);
/* A worker that was made with these tapes, and its client; the ones before are gone.  False: no
 * memory. */
bool recorder_attach(struct recorder *recorder, struct worker *worker, struct client *client);

/* Right before and after worker_run(), or worker_resume() (`prompt` NULL). */
void recorder_run(struct recorder *recorder, const char *prompt, size_t length);
void recorder_result(struct recorder *recorder, const struct worker_result *result);

#endif
