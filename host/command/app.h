/*
 * app - what every command of the binary has: settings, output, and how things are told.
 */
#ifndef COMMAND_APP_H
#define COMMAND_APP_H

#include "command/trust.h"
#include "config/settings.h"
#include "frontend/output.h"
#include "plugin/set.h"
#include "plugin/watch.h"
#include "service/services.h"
#include "tool/call.h"
#include "tool/dispatch.h"

/* What the process ends with; scripts rely on these. */
enum exit_code {
    EXIT_FINISHED = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_CONFIG = 3,
    EXIT_PROVIDER = 4,
    EXIT_PLUGIN = 5,
    EXIT_HOOK = 6,
    EXIT_LIMIT = 7,
    EXIT_PAUSED = 8,
    EXIT_TIMEOUT = 124,
    EXIT_INTERRUPTED = 130,
    EXIT_TERMINATED = 143
};

struct recorder;

struct app {
    struct settings settings;
    struct output out;   /* standard output */
    struct output notes; /* standard error */
    bool json;           /* --json */
    bool keeps_refusals; /* they are in the registry, and told from there */
    struct services *services; /* what tools may use; made by app_plugins() */
    struct trust trust;        /* which plugins may be loaded */
    struct recorder *recorder; /* --record; made with the first conversation */
    struct profiles *profiles; /* the providers; made by model_profiles() */
};

/* Output, log level and colour as the settings say, or as they are without. */
void app_start(struct app *app);
void app_finish(struct app *app);

/* Tells an error of any kind on standard error and returns the exit code that it means. */
int app_fail(struct app *app, const struct error *error);
enum exit_code exit_code_of(enum error_kind kind);
/* EXIT_FINISHED, or EXIT_FAILED with the reason told when standard output took not all. */
int app_flush(struct app *app);

/* Closes an object that was begun with "{" (base/json_write.h), prints it as one line, without
 * secrets, and releases it. */
void app_print_json(struct app *app, struct text *line);

/* Where plugins are looked for, with nothing loaded.  NULL with *error. */
struct plugin_set *app_sources(struct app *app, struct error *error);
/* All plugins of the settings: -e files (which must load), -P folders, the variable
 * MORTISE_PLUGIN_PATH, the user's and the installed folder.  Unless `watch` is NULL they are watched
 * from before they are loaded, so that no change is missed.  NULL with *error. */
struct plugin_set *app_plugins(struct app *app, struct plugin_watch **watch, struct error *error);
/* The same for a command that never loads them anew. */
struct registry *app_load(struct app *app, struct error *error);

/* Filters by --tools and --no-tools; for dispatch and worker. */
bool app_offers(void *app, const struct tool *tool);
/* Warns of each glob of --tools that matches no tool. */
void app_check_globs(const struct app *app, const struct registry *registry);

/* A setting in seconds, as milliseconds. */
int64_t app_milliseconds(const struct app *app, enum setting_id id, int64_t fallback);
/* A whole number; what does not fit is as large as can be. */
unsigned app_unsigned(const struct app *app, enum setting_id id, unsigned fallback);

/* How servers are reached, as the settings say; borrowed. */
struct network_settings app_network(const struct settings *settings);

/* Reads standard input to its end into `out`. */
bool app_read_input(struct text *out, struct error *error);

/* "tool 'x' not found; did you mean 'y'?", or the list. */
void app_unknown_tool(const struct registry *registry, const char *name, struct error *error);

#endif
