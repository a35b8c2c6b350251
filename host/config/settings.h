/*
 * settings - what the user wants: options, environment, configuration files, defaults.
 *
 * One table (SETTINGS) names every setting; from it come the command line, the variables
 * MORTISE_…, the keys of the configuration files, the help and `mortise config`.
 * Precedence: option, environment, project file, user file, default.
 *
 * A project's file (.mortise/config.json) may come with somebody else's folder, so it can
 * set only what cannot run code, send keys elsewhere or read other files.
 */
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"

enum setting_kind {
    SETTING_FLAG,   /* true or false */
    SETTING_COUNT,  /* a flag that may be given several times */
    SETTING_TEXT,
    SETTING_CHOICE, /* one of the words of its metavariable, "a|b|c" */
    SETTING_LIST,   /* of paths: repeatable; an array in files, ':' between in the environment */
    SETTING_TEXTS,  /* the same of any texts, a line for each in the environment */
    SETTING_WHOLE,  /* integer >= 0 */
    SETTING_NUMBER  /* real */
};

/* What the project's file may do with it.  TIGHTENS: of a choice, set the last word, which is the
 * strictest.  OPTION_ONLY: neither a file nor a variable sets it, for it is said of one thing. */
enum { USER_ONLY = 0, PROJECT_OK = 1, PROJECT_TIGHTENS = 2, OPTION_ONLY = 3 };

/* id, long option, short option or 0, metavariable, kind, project, default, help */
#define SETTINGS(X)                                                                                \
    X(MODEL, "model", 'm', "PROVIDER/MODEL", SETTING_TEXT, USER_ONLY, NULL,                        \
      "the model to ask (see `mortise providers`)")                                                \
    X(BASE_URL, "base-url", 0, "URL", SETTING_TEXT, USER_ONLY, NULL,                               \
      "another server that speaks the provider's format")                                          \
    X(PLUGINS, "plugins", 'P', "DIR", SETTING_LIST, USER_ONLY, NULL,                               \
      "look for plugins here first (repeatable)")                                                  \
    X(PLUGIN, "plugin", 'e', "FILE.so", SETTING_LIST, USER_ONLY, NULL,                             \
      "load one more plugin; it must load (repeatable)")                                           \
    X(NO_PLUGINS, "no-plugins", 0, NULL, SETTING_FLAG, USER_ONLY, "false",                         \
      "search no folder for plugins")                                                              \
    X(ISOLATE, "isolate", 0, NULL, SETTING_FLAG, USER_ONLY, "false",                               \
      "run each plugin in a process of its own, unless its configuration says none")               \
    X(TRUST, "trust", 0, "any|pinned", SETTING_CHOICE, PROJECT_TIGHTENS, "any",                    \
      "load any plugin, or only what `mortise plugins trust` noted, unchanged")                    \
    X(WATCH, "watch", 0, NULL, SETTING_FLAG, USER_ONLY, "false",                                   \
      "load plugins anew when their files change; without it SIGHUP and /reload do")               \
    X(TOOLS, "tools", 0, "GLOB,...", SETTING_TEXT, PROJECT_OK, NULL,                               \
      "offer only these tools to the model")                                                       \
    X(NO_TOOLS, "no-tools", 0, NULL, SETTING_FLAG, PROJECT_OK, "false",                            \
      "offer no tools to the model")                                                               \
    X(SYSTEM, "system", 's', "TEXT|@FILE", SETTING_TEXT, PROJECT_OK, NULL, "the system prompt")    \
    X(MAX_TURNS, "max-turns", 0, "N", SETTING_WHOLE, PROJECT_OK, "100",                            \
      "requests per run at most")                                                                  \
    X(MAX_RUN_TOKENS, "max-run-tokens", 0, "N", SETTING_WHOLE, PROJECT_OK, NULL,                   \
      "tokens per run at most, input and output together")                                         \
    X(MAX_TOKENS, "max-tokens", 0, "N", SETTING_WHOLE, PROJECT_OK, NULL,                           \
      "tokens per answer at most")                                                                 \
    X(TEMPERATURE, "temperature", 0, "X", SETTING_NUMBER, PROJECT_OK, NULL, "sampling temperature") \
    X(TOP_P, "top-p", 0, "X", SETTING_NUMBER, PROJECT_OK, NULL, "nucleus sampling")                \
    X(TOP_K, "top-k", 0, "N", SETTING_WHOLE, PROJECT_OK, NULL, "sample from the N likeliest")      \
    X(STOP, "stop", 0, "TEXT", SETTING_TEXTS, PROJECT_OK, NULL,                                    \
      "end the answer before this text (repeatable)")                                              \
    X(REASONING, "reasoning", 0, "low|medium|high", SETTING_CHOICE, PROJECT_OK, NULL,              \
      "how hard the model thinks before it answers")                                               \
    X(IMAGES, "images", 0, "auto|on|off", SETTING_CHOICE, PROJECT_OK, "auto",                      \
      "send images and PDFs of results; auto: to models that are known to take them")              \
    X(STRATEGY, "strategy", 0, "auto|ordered|sequential|parallel", SETTING_CHOICE, PROJECT_OK,     \
      "auto", "how the calls of one answer run")                                                   \
    X(LOCK, "lock", 0, NULL, SETTING_FLAG, PROJECT_OK, "false",                                    \
      "keep system prompt, tools and what was said as they are, for the provider's cache")         \
    X(TIMEOUT, "timeout", 0, "SECONDS", SETTING_NUMBER, PROJECT_OK, NULL, "for the whole run")     \
    X(CONNECT_TIMEOUT, "connect-timeout", 0, "SECONDS", SETTING_NUMBER, PROJECT_OK, "20",          \
      "for the connection to the server")                                                          \
    X(FIRST_BYTE_TIMEOUT, "first-byte-timeout", 0, "SECONDS", SETTING_NUMBER, PROJECT_OK, "120",   \
      "until the answer begins")                                                                   \
    X(IDLE_TIMEOUT, "idle-timeout", 0, "SECONDS", SETTING_NUMBER, PROJECT_OK, "120",               \
      "without a byte of the answer")                                                              \
    X(RESPONSE_LIMIT, "response-limit", 0, "BYTES", SETTING_WHOLE, PROJECT_OK, "134217728",        \
      "of one answer, as it comes from the server, at most")                                       \
    X(PROXY, "proxy", 0, "URL", SETTING_TEXT, USER_ONLY, NULL,                                     \
      "ask this proxy, not that of https_proxy and the like; none: no proxy")                      \
    X(CA_FILE, "ca-file", 0, "FILE", SETTING_TEXT, USER_ONLY, NULL,                                \
      "trust servers whose certificates come from these, not the system's")                        \
    X(CLIENT_CERT, "client-cert", 0, "FILE", SETTING_TEXT, USER_ONLY, NULL,                        \
      "the certificate to show to the model's server")                                             \
    X(CLIENT_KEY, "client-key", 0, "FILE", SETTING_TEXT, USER_ONLY, NULL,                          \
      "its key, unless that is in the same file")                                                  \
    X(RETRIES, "retries", 0, "N", SETTING_WHOLE, PROJECT_OK, "3",                                  \
      "attempts after the first, for errors that may pass")                                        \
    X(RESULT_LIMIT, "result-limit", 0, "BYTES", SETTING_WHOLE, PROJECT_OK, "65536",                \
      "of a tool's result, the most that the model gets")                                          \
    X(SESSION, "session", 0, "ID", SETTING_TEXT, USER_ONLY, NULL,                                  \
      "keep a session: go on with this one, or begin it")                                          \
    X(CONTINUE, "continue", 'c', NULL, SETTING_FLAG, USER_ONLY, "false",                           \
      "go on with the latest session of this folder")                                              \
    X(NO_SESSION, "no-session", 0, NULL, SETTING_FLAG, USER_ONLY, "false",                         \
      "keep no session")                                                                           \
    X(RECORD, "record", 0, "FILE", SETTING_TEXT, USER_ONLY, NULL,                                  \
      "write down, into a new file, all that `mortise replay` needs to do this again")             \
    X(LIVE_TOOLS, "live-tools", 0, NULL, SETTING_FLAG, USER_ONLY, "false",                         \
      "in a replay, run the tools and ask the hooks, and compare what they do")                    \
    X(NO_ACCOUNT, "no-account", 0, NULL, SETTING_FLAG, PROJECT_OK, "false",                        \
      "do not count what the tools do (see `mortise plugins show`)")                               \
    X(JSON, "json", 0, NULL, SETTING_FLAG, USER_ONLY, "false",                                     \
      "events as JSON lines on standard output")                                                   \
    X(QUIET, "quiet", 'q', NULL, SETTING_FLAG, PROJECT_OK, "false", "show the answer only")        \
    X(VERBOSE, "verbose", 'v', NULL, SETTING_COUNT, PROJECT_OK, "0",                               \
      "show more; twice: even more")                                                               \
    X(COLOR, "color", 0, "auto|always|never", SETTING_CHOICE, PROJECT_OK, "auto",                  \
      "NO_COLOR is honoured")                                                                      \
    X(CONFIG, "config", 0, "FILE", SETTING_TEXT, USER_ONLY, NULL,                                  \
      "instead of the user's configuration file")                                                  \
    X(DEBUGGABLE, "debuggable", 0, NULL, SETTING_FLAG, USER_ONLY, "false",                         \
      "let debuggers in, and a crash write a core file; both may show keys")                       \
    X(HTTP, "http", 0, "ADDR", SETTING_TEXT, USER_ONLY, NULL,                                      \
      "`mcp serve`: listen here, PORT or HOST:PORT, instead of standard input")                    \
    X(HTTP_PUBLIC, "http-public", 0, NULL, SETTING_FLAG, USER_ONLY, "false",                       \
      "`mcp serve`: take requests from other machines, with a token")                              \
    X(HTTP_TIMEOUT, "http-timeout", 0, "SECONDS", SETTING_NUMBER, USER_ONLY, "30",                 \
      "`mcp serve`: for a client to send a request, or to accept the answer")                      \
    X(MESSAGE_LIMIT, "message-limit", 0, "BYTES", SETTING_WHOLE, USER_ONLY, "10485760",            \
      "`mcp serve`: of one message from a client, at most")                                        \
    X(TOKEN_FILE, "token-file", 0, "FILE", SETTING_TEXT, USER_ONLY, NULL,                          \
      "`mcp serve`: each request must bring the token in it (or in MORTISE_MCP_TOKEN)")            \
    X(USER, "user", 0, "ID", SETTING_TEXT, USER_ONLY, NULL, "who asks, as tools are told")         \
    X(TENANT, "tenant", 0, "ID", SETTING_TEXT, USER_ONLY, NULL, "for whom, as tools are told")     \
    X(AGENT, "agent", 0, "NAME", SETTING_TEXT, USER_ONLY, "mortise",                               \
      "the agent's name, as tools are told")                                                       \
    X(APP, "app", 0, "NAME", SETTING_TEXT, USER_ONLY, NULL,                                        \
      "the application's name, as tools are told; else the agent's")                               \
    X(METADATA, "metadata", 0, "KEY=VALUE", SETTING_TEXTS, USER_ONLY, NULL,                        \
      "what tools and hooks may ask for by this key (repeatable)")                                 \
    X(SCOPES, "scopes", 0, "SCOPE,...", SETTING_TEXT, USER_ONLY, NULL,                             \
      "what tools that require scopes may do")                                                     \
    X(FROM, "from", 0, "FILE", SETTING_TEXT, OPTION_ONLY, NULL,                                    \
      "`mcp add`: the servers of this file, which is another client's")                            \
    X(ENV, "env", 0, "NAME=VALUE", SETTING_TEXTS, OPTION_ONLY, NULL,                               \
      "`mcp add`: a variable for the server (repeatable)")                                         \
    X(HEADER, "header", 0, "NAME:VALUE", SETTING_TEXTS, OPTION_ONLY, NULL,                        \
      "`mcp add`: a header for the server (repeatable)")                                           \
    X(CWD, "cwd", 0, "DIR", SETTING_TEXT, OPTION_ONLY, NULL,                                       \
      "`mcp add`: the folder that the server runs in")                                             \
    X(WORKSPACE, "workspace", 0, "DIR", SETTING_TEXT, USER_ONLY, NULL,                             \
      "the folder that tools work in; else the current one")

enum setting_id {
#define X(id, ...) SETTING_##id,
    SETTINGS(X)
#undef X
        SETTING_ID_COUNT
};

struct setting_definition {
    const char *name;
    int letter; /* or 0 */
    const char *metavariable;
    enum setting_kind kind;
    int project;
    const char *fallback;
    const char *help;
};

extern const struct setting_definition setting_definitions[SETTING_ID_COUNT];

/* The setting whose name is near to this one, or NULL. */
const char *setting_suggest(const char *name);

enum setting_source {
    SOURCE_UNSET,
    SOURCE_DEFAULT,
    SOURCE_USER,
    SOURCE_PROJECT,
    SOURCE_ENVIRONMENT,
    SOURCE_OPTION
};
const char *setting_source_name(enum setting_source source);

struct setting_value {
    enum setting_source source;
    char **items; /* NULL-terminated; several only for lists */
    size_t count;
};

struct settings {
    struct setting_value values[SETTING_ID_COUNT];
    json_t *user_file;  /* parsed, or NULL */
    bool help, version;
};

void settings_init(struct settings *settings);
void settings_release(struct settings *settings);

/* Reads options from argv and moves the operands to its front; *operands is their number.
 * Kind usage on failure, with a suggestion. */
bool settings_read_options(struct settings *settings, int argc, char **argv, int *operands,
                           struct error *error);
/* The variables alone; false with the first that is wrong. */
bool settings_read_environment(struct settings *settings, struct error *error);
/* Environment and files; missing files are fine, broken ones are not (kind config).  False with the
 * first thing that is wrong; what else could be read is there, and so are the defaults. */
bool settings_read_rest(struct settings *settings, struct error *error);

/* The value, or NULL when it is unset. */
const char *settings_text(const struct settings *settings, enum setting_id id);
char *const *settings_list(const struct settings *settings, enum setting_id id, size_t *count);
bool settings_flag(const struct settings *settings, enum setting_id id);
/* Values were checked when they were read.  Unset: `fallback`. */
int64_t settings_whole(const struct settings *settings, enum setting_id id, int64_t fallback);
double settings_number(const struct settings *settings, enum setting_id id, double fallback);

/* A section of the user's file, such as ("plugin-config", "audit"): borrowed, or NULL. */
const json_t *settings_section(const struct settings *settings, const char *kind,
                               const char *name);
/* Says one thing of a section, whatever the file says.  Takes `value`. */
bool settings_override(struct settings *settings, const char *kind, const char *name,
                       const char *key, json_t *value, struct error *error);
/* Reads all sections of a kind anew from the user's file; everything else stays as it was read
 * first.  What settings_section() gave of this kind is gone.  False: the file cannot be used, and
 * nothing changed. */
bool settings_read_sections_again(struct settings *settings, const char *kind,
                                  struct error *error);

#endif
