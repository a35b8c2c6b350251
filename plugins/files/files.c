/* The tools of the workspace's files: their declarations, and the plugin. */
#include "files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define READING (MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE)
#define A_PATH  "From the workspace's root, such as \"src/main.c\", or absolute within it."

/* ---- reading ------------------------------------------------------------------------------ */

MORTISE_TOOL_WITH(read_file, (title("Read a file"), examples("{\"path\": \"src/main.c\"}",
                              "{\"path\": \"server.log\", \"offset\": 2001, \"limit\": 500}")),
    READING,
    "Read a text file of the workspace, line by line. Each line has its number and a tab in front, "
    "which are not part of the file. A long file comes in parts: a note at the end says at which "
    "offset to go on. Images and PDF files come as attachments. A file must have been read before "
    "edit_file or write_file changes it.",
    (string,  path,         "The file. " A_PATH, required, length(1, 4096)),
    (integer, offset,       "The first line, from 1.", at_least(1), fallback(1)),
    (integer, limit,        "At most so many lines.", range(1, 10000), fallback(2000)),
    (boolean, line_numbers, "Put numbers in front of the lines.", fallback(true)));

static mortise_status read_file(mortise_call *call, const read_file_args *args)
{
    return files_read(
        mortise_state(call), call,
        &(struct read_request){args->path, args->offset, args->limit, args->line_numbers});
}

MORTISE_TOOL_WITH(list_files, (title("List files")), READING,
    "Show a folder of the workspace as a tree, with sizes. Hidden files and what .gitignore leaves "
    "out are not shown unless asked for. To find files by name use glob.",
    (string,  path,    "The folder. " A_PATH, fallback("."), length(0, 4096)),
    (integer, depth,   "How many levels to open; 1: only what is in the folder itself.",
                       range(1, 20), fallback(2)),
    (integer, limit,   "At most so many entries.", range(1, 5000), fallback(500)),
    (boolean, hidden,  "Show names that begin with a dot, too."),
    (boolean, ignored, "Show what .gitignore leaves out, too."));

static mortise_status list_files(mortise_call *call, const list_files_args *args)
{
    return files_list(
        mortise_state(call), call,
        &(struct list_request){args->path, args->depth, args->limit, args->hidden, args->ignored});
}

MORTISE_TOOL_WITH(glob, (title("Find files by name"), examples("{\"pattern\": \"**/*.c\"}",
                         "{\"pattern\": \"src/**/*.{ts,tsx}\", \"sort\": \"time\"}")),
    READING,
    "Find files of the workspace by a pattern of their path. Hidden files and what .gitignore "
    "leaves out are not found unless asked for. To find files by their content use grep.",
    (string,  pattern, "* and ? within a name, ** for any folders, [a-z], {a,b}. A pattern without "
                       "a slash is for names in any folder.", required, length(1, 4096)),
    (string,  path,    "The folder to search in, from which the pattern goes. " A_PATH,
                       fallback("."), length(0, 4096)),
    (string,  sort,    "By name, or by time: what changed last comes first.",
                       one_of("name", "time"), fallback("name")),
    (integer, limit,   "At most so many files.", range(1, 5000), fallback(200)),
    (boolean, hidden,  "Find names that begin with a dot, too."),
    (boolean, ignored, "Find what .gitignore leaves out, too."));

static mortise_status glob(mortise_call *call, const glob_args *args)
{
    return files_find(mortise_state(call), call,
                      &(struct find_request){args->pattern, args->path, args->limit,
                                             strcmp(args->sort, "time") == 0, args->hidden,
                                             args->ignored});
}

MORTISE_TOOL_WITH(grep, (title("Search in files"), examples(
                         "{\"pattern\": \"TODO|FIXME\", \"glob\": \"*.py\"}",
                         "{\"pattern\": \"free(p);\", \"literal\": true, \"before\": 3}")),
    READING,
    "Search the contents of files of the workspace with a regular expression (PCRE2). The answer "
    "has lines PATH:LINE:TEXT, and PATH-LINE-TEXT for those around. Binary and hidden files and "
    "what .gitignore leaves out are not searched unless asked for.",
    (string,  pattern,     "The regular expression. It matches within a line.", required,
                           length(1, 8192)),
    (string,  path,        "The file or folder to search in. " A_PATH, fallback("."),
                           length(0, 4096)),
    (string,  glob,        "Only files whose name or path fits, such as \"*.c\" or "
                           "\"src/**/*.{ts,tsx}\".", length(1, 4096)),
    (string,  output,      "content: the lines; files: only the paths; count: how many per file.",
                           one_of("content", "files", "count"), fallback("content")),
    (integer, before,      "Show so many lines before each match.", range(0, 50), fallback(0)),
    (integer, after,       "Show so many lines after each match.", range(0, 50), fallback(0)),
    (integer, limit,       "At most so many matching lines, or files.", range(1, 5000),
                           fallback(200)),
    (boolean, ignore_case, "Upper and lower case are the same."),
    (boolean, literal,     "The pattern is a text, not a regular expression."),
    (boolean, multiline,   "Matches may go over lines, and the dot matches the end of a line."),
    (boolean, hidden,      "Search names that begin with a dot, too."),
    (boolean, ignored,     "Search what .gitignore leaves out, too."));

static mortise_status grep(mortise_call *call, const grep_args *args)
{
    return files_grep(mortise_state(call), call,
                      &(struct grep_request){
                          .pattern = args->pattern,
                          .path = args->path,
                          .filter = args->glob,
                          .output = strcmp(args->output, "files") == 0   ? GREP_FILES
                                    : strcmp(args->output, "count") == 0 ? GREP_COUNT
                                                                         : GREP_CONTENT,
                          .before = args->before,
                          .after = args->after,
                          .limit = args->limit,
                          .ignore_case = args->ignore_case,
                          .literal = args->literal,
                          .multiline = args->multiline,
                          .hidden = args->hidden,
                          .ignored = args->ignored,
                      });
}

/* ---- writing ------------------------------------------------------------------------------ */

MORTISE_TOOL_WITH(write_file, (title("Write a file")), MORTISE_DESTRUCTIVE | MORTISE_IDEMPOTENT,
    "Write a file of the workspace with all of its content. Folders that are missing are made. A "
    "file that exists must have been read as a whole with read_file; to change a part of it use "
    "edit_file.",
    (string, path,    "The file. " A_PATH, required, length(1, 4096)),
    (string, content, "All that the file shall hold.", required));

static mortise_status write_file(mortise_call *call, const write_file_args *args)
{
    return files_write(mortise_state(call), call, args->path, args->content);
}

MORTISE_RECORD(edit_text,
    (string,  old_text,    "The text as it stands in the file, with its white space and without "
                           "line numbers; with as many lines around it as it takes to occur once.",
                           required),
    (string,  new_text,    "What to put in its place; empty to delete it.", required),
    (boolean, replace_all, "Replace it wherever it occurs."));

MORTISE_TOOL_WITH(edit_file, (title("Edit a file"), examples(
    "{\"path\": \"src/main.c\", \"edits\": [{\"old_text\": \"int n = 1;\", "
    "\"new_text\": \"int n = 2;\"}]}")),
    MORTISE_DESTRUCTIVE,
    "Replace exact texts in a file of the workspace that was read with read_file. The edits are "
    "made one after the other, each in what the one before left, and all of them or none.",
    (string,  path,             "The file. " A_PATH, required, length(1, 4096)),
    (records, edits, edit_text, "What to replace.", required, length(1, 100)));

static mortise_status edit_file(mortise_call *call, const edit_file_args *args)
{
    struct edit *edits = mortise_alloc(call, args->edits.count * sizeof(*edits));
    if (!edits)
        return MORTISE_NO_MEMORY;
    for (size_t i = 0; i < args->edits.count; i++)
        edits[i] = (struct edit){args->edits.items[i].old_text, args->edits.items[i].new_text,
                                 args->edits.items[i].replace_all};
    return files_edit(mortise_state(call), call, args->path, edits, args->edits.count);
}

/* ---- the plugin
 * ------------------------------------------------------------------------------------ */

static void files_close(void *state)
{
    struct files *files = state;
    for (size_t i = 0; files->roots[i]; i++)
        free(files->roots[i]);
    seen_release(&files->seen);
    pthread_mutex_destroy(&files->writing);
    free(files);
}

/* What is wrong with the further roots, for mortise_refuse(); NULL: they are there. */
static const char *read_roots(struct files *files, char **named)
{
    for (size_t i = 0; named && named[i]; i++) {
        if (i == FILES_ROOTS)
            return "\"roots\" has more than 16 folders";
        if (named[i][0] != '/')
            return "\"roots\" has a path that is not absolute";
        files->roots[i] = realpath(named[i], NULL);
        if (!files->roots[i])
            return errno == ENOMEM ? "out of memory" : "\"roots\" names a folder that is not there";
    }
    return NULL;
}

static void *files_open(const mortise_host *host)
{
    struct files *files = calloc(1, sizeof(*files));
    char **named = NULL;
    if (!files)
        return mortise_refuse(host, "out of memory");
    files->host = host;
    seen_init(&files->seen);
    pthread_mutex_init(&files->writing, NULL);
    const char *wrong = NULL;
    if (mortise_config_boolean(host, "write", &files->may_write) == MORTISE_INVALID)
        wrong = "\"write\" must be true or false";
    else if (mortise_config_strings(host, "roots", &named) == MORTISE_INVALID)
        wrong = "\"roots\" must be a list of folders";
    else
        wrong = read_roots(files, named);
    free(named);
    if (!wrong)
        return files;
    files_close(files);
    return mortise_refuse(host, "%s", wrong);
}

/* What changes files is there only for those who have asked for it. */
static bool wants_tool(const void *state, const mortise_tool *tool)
{
    const struct files *files = state;
    return files->may_write || (tool->meta->flags & MORTISE_READ_ONLY);
}

MORTISE_PLUGIN(.name = "files", .version = "1.0.0",
               .tools = MORTISE_TOOLS(read_file, list_files, glob, grep, write_file, edit_file),
               .wants_tool = wants_tool, .open = files_open, .close = files_close);
