/*
 * account - what the tools did: gathered after a run, kept over runs, shown as a table or JSON.
 *
 * Kept in $XDG_STATE_HOME/mortise/accounts.jsonl (plugin/account_file.h), unless --no-account
 * says otherwise.  That it cannot be written is a note and never an error of the run.
 */
#ifndef COMMAND_ACCOUNT_H
#define COMMAND_ACCOUNT_H

#include "command/app.h"
#include "plugin/account_file.h"

/* What was counted since the last time, one entry for each tool that was called, also of tools that
 * a reload took away meanwhile. */
struct account_news {
    struct account_entry *entries;
    struct tool_usage *usage; /* the same as the result event shows it */
    size_t count;
};
/* Borrows the names from the registry.  Without memory it has nothing, and nothing is lost. */
void account_news_take(struct account_news *news, const struct registry *registry);
/* Adds it to the file, if there is any. */
void account_news_keep(const struct account_news *news, const struct app *app);
void account_news_release(struct account_news *news);

/* All that was kept; NULL: it cannot be read, which was told.  To be json_decref()ed. */
json_t *account_book(void);
/* Whether anything is known of the tool. */
bool account_of(const json_t *book, const struct tool *tool, struct account_sum *sum);
/* Forgets what was kept of a plugin. */
int account_forget(struct app *app, const char *plugin);

/* A table: a line for each tool with its calls, errors, times and bytes. */
struct account_table {
    struct text cells; /* each ends with a NUL */
    size_t rows;
    bool dropped; /* any progress was: a column more */
};
void account_table_add(struct account_table *table, const char *tool,
                       const struct account_sum *sum);
void account_table_show(struct account_table *table, struct output *output); /* and releases it */

/* Members of an object that was begun: "calls", …, "p99_ms", …. */
void account_put_json(struct text *out, const struct account_sum *sum);

#endif
