#include "command/account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "base/log.h"
#include "config/paths.h"
#include "plugin/account_file.h"

/* ---- after a run ---- */

static void take(struct account_news *news, const struct counted *counted)
{
    struct account_entry *entry = &news->entries[news->count];
    if (!account_take(counted->account, &entry->sum))
        return;
    entry->plugin = counted->plugin;
    entry->tool = counted->own_name;
    news->usage[news->count++] =
        (struct tool_usage){.name = counted->name,
                            .calls = entry->sum.calls,
                            .errors = entry->sum.errors,
                            .total_us = entry->sum.total_ns / 1000,
                            .p99_us = account_quantile_ns(&entry->sum, 0.99) / 1000};
}

static size_t count_called(const struct registry *registry)
{
    struct counted counted;
    size_t count = 0;
    for (size_t i = 0; registry_counted(registry, i, &counted); i++)
        count += account_is_due(counted.account);
    return count;
}

void account_news_take(struct account_news *news, const struct registry *registry)
{
    struct counted counted;
    size_t room = count_called(registry);
    *news = (struct account_news){0};
    if (!room)
        return;
    news->entries = calloc(room, sizeof(*news->entries));
    news->usage = calloc(room, sizeof(*news->usage));
    if (!news->entries || !news->usage)
        return;
    for (size_t i = 0; news->count < room && registry_counted(registry, i, &counted); i++)
        take(news, &counted);
}

/* NULL: no memory; "": nowhere. */
static char *book_path(void)
{
    return path_state("accounts.jsonl");
}

void account_news_keep(const struct account_news *news, const struct app *app)
{
    struct error error;
    if (!news->count || settings_flag(&app->settings, SETTING_NO_ACCOUNT))
        return;
    char *path = book_path();
    bool kept = path ? !*path || account_file_add(path, news->entries, news->count, &error)
                     : error_memory(&error);
    if (!kept)
        log_note("what the tools did is not counted: %s", error.message);
    free(path);
}

void account_news_release(struct account_news *news)
{
    free(news->entries);
    free(news->usage);
    *news = (struct account_news){0};
}

/* ---- what was kept ---- */

json_t *account_book(void)
{
    struct error error;
    char *path = book_path();
    json_t *book = NULL;
    if (path)
        book = account_file_read(path, &error);
    else
        error_memory(&error);
    if (!book)
        log_warning("%s", error.message);
    free(path);
    return book;
}

bool account_of(const json_t *book, const struct tool *tool, struct account_sum *sum)
{
    return account_file_find(book, tool->plugin->name, tool->own_name, sum);
}

int account_forget(struct app *app, const char *plugin)
{
    struct error error;
    bool found = false;
    char *path = book_path();
    bool ok =
        path ? !*path || account_file_forget(path, plugin, &found, &error) : error_memory(&error);
    free(path);
    if (ok && !found)
        ok = error_set(&error, ERROR_USAGE, "nothing was counted of a plugin '%s'", plugin);
    return ok ? EXIT_FINISHED : app_fail(app, &error);
}

void account_put_json(struct text *out, const struct account_sum *sum)
{
    const struct {
        const char *key;
        int64_t ns;
    } times[] = {{"total_ms", sum->total_ns},
                 {"p50_ms", account_quantile_ns(sum, 0.50)},
                 {"p99_ms", account_quantile_ns(sum, 0.99)},
                 {"max_ms", sum->max_ns}};
    json_put_integer(out, "calls", sum->calls);
    json_put_integer(out, "errors", sum->errors);
    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
        json_put_number(out, times[i].key, (double)(times[i].ns / 1000) / 1000);
    json_put_integer(out, "bytes_in", sum->bytes_in);
    json_put_integer(out, "bytes_out", sum->bytes_out);
    json_put_integer(out, "progress_dropped_bytes", sum->progress_dropped);
}

/* ---- the table ---- */

enum column { TOOL, CALLS, ERRORS, TOTAL, P50, P99, MAX, IN, OUT, DROPPED, COLUMNS };
static const char *const columns[COLUMNS] = {"tool", "calls", "errors", "total", "p50",
                                             "p99",  "max",   "in",     "out",   "dropped"};
enum { MAX_CELL = 32, GAP = 2, HIDDEN = -1 };

static void add_cell(struct text *cells, const char *cell)
{
    text_append(cells, cell, strlen(cell) + 1);
}

static void add_time(struct text *cells, int64_t ns)
{
    char cell[MAX_CELL];
    if (ns < 1000000)
        snprintf(cell, sizeof(cell), "%.3g µs", (double)ns / 1e3);
    else if (ns < 1000000000)
        snprintf(cell, sizeof(cell), "%.3g ms", (double)ns / 1e6);
    else
        snprintf(cell, sizeof(cell), "%.1f s", (double)ns / 1e9);
    add_cell(cells, cell);
}

static void add_count(struct text *cells, int64_t count)
{
    char cell[MAX_CELL];
    snprintf(cell, sizeof(cell), "%lld", (long long)count);
    add_cell(cells, cell);
}

static void add_bytes(struct text *cells, int64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    char cell[MAX_CELL];
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1000 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
        value /= 1024;
    snprintf(cell, sizeof(cell), "%.3g %s", value, units[unit]);
    add_cell(cells, cell);
}

void account_table_add(struct account_table *table, const char *tool, const struct account_sum *sum)
{
    struct text *cells = &table->cells;
    add_cell(cells, tool);
    add_count(cells, sum->calls);
    add_count(cells, sum->errors);
    add_time(cells, sum->total_ns);
    add_time(cells, account_quantile_ns(sum, 0.50));
    add_time(cells, account_quantile_ns(sum, 0.99));
    add_time(cells, sum->max_ns);
    add_bytes(cells, sum->bytes_in);
    add_bytes(cells, sum->bytes_out);
    add_bytes(cells, sum->progress_dropped);
    table->rows++;
    table->dropped = table->dropped || sum->progress_dropped > 0;
}

/* Columns of the terminal: the cells are the host's own words, of single-width characters. */
static int width_of(const char *cell)
{
    int width = 0;
    for (; *cell; cell++)
        width += ((unsigned char)*cell & 0xC0) != 0x80;
    return width;
}

static const char *next_cell(const char *cell)
{
    return cell + strlen(cell) + 1;
}

static void measure(const struct account_table *table, int widths[COLUMNS])
{
    const char *cell = text_cstr(&table->cells);
    for (size_t i = 0; i < COLUMNS; i++)
        widths[i] = width_of(columns[i]);
    for (size_t i = 0; i < table->rows * COLUMNS; i++, cell = next_cell(cell))
        if (width_of(cell) > widths[i % COLUMNS])
            widths[i % COLUMNS] = width_of(cell);
}

/* What a terminal has no room for goes, the least told first; programs get all by --json. */
static void fit(const struct account_table *table, const struct output *output, int widths[COLUMNS])
{
    static const enum column spared[] = {MAX, P50, IN, OUT, TOTAL, P99};
    int width = 0;
    if (!table->dropped)
        widths[DROPPED] = HIDDEN;
    for (size_t i = 0; i < COLUMNS; i++)
        width += widths[i] == HIDDEN ? 0 : widths[i] + GAP;
    for (size_t i = 0; i < sizeof(spared) / sizeof(*spared); i++)
        if (output->terminal && width > (int)output_width(output)) {
            width -= widths[spared[i]] + GAP;
            widths[spared[i]] = HIDDEN;
        }
}

static void show_cell(struct output *output, size_t column, const char *cell, int width)
{
    int fill = width - width_of(cell);
    if (width == HIDDEN)
        return;
    if (column == TOOL)
        output_printf(output, "%*s%s%*s", GAP, "", cell, fill, "");
    else
        output_printf(output, "%*s%s", GAP + fill, "", cell);
}

void account_table_show(struct account_table *table, struct output *output)
{
    int widths[COLUMNS];
    if (table->cells.failed) {
        output_fail(output, ENOMEM);
        table->rows = 0;
    }
    measure(table, widths);
    fit(table, output, widths);
    const char *cell = text_cstr(&table->cells);
    for (size_t i = 0; table->rows && i < COLUMNS; i++)
        show_cell(output, i, columns[i], widths[i]);
    for (size_t i = 0; i < table->rows * COLUMNS; i++, cell = next_cell(cell)) {
        if (i % COLUMNS == 0)
            output_own(output, "\n");
        show_cell(output, i % COLUMNS, cell, widths[i % COLUMNS]);
    }
    output_end_line(output);
    text_release(&table->cells);
    *table = (struct account_table){0};
}
