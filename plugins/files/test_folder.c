#include "test_folder.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char workspace[64];

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    return remove(path);
}

void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *in_workspace(const char *name)
{
    static char path[8192];
    snprintf(path, sizeof(path), "%s/%s", workspace, name);
    return path;
}

void put_bytes(const char *name, const char *data, size_t length)
{
    char path[8192];
    strcpy(path, in_workspace(name));
    for (char *slash = strchr(path + strlen(workspace) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    FILE *out = fopen(path, "w");
    mortise_test_true(out && fwrite(data, 1, length, out) == length);
    if (out)
        fclose(out);
}

void put(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

/* What a file holds, up to a NUL; "(none)" without it. */
const char *get(const char *name)
{
    static char text[4][65536];
    static size_t turn;
    char *out = text[turn++ % 4];
    FILE *in = fopen(in_workspace(name), "r");
    out[in ? fread(out, 1, sizeof(text[0]) - 1, in) : 0] = '\0';
    if (!in)
        return "(none)";
    fclose(in);
    return out;
}

mortise_test *begin(const char *config)
{
    strcpy(workspace, "/tmp/test_files.XXXXXX");
    mortise_test_true(mkdtemp(workspace) != NULL);
    mortise_test *test = mortise_test_open(config);
    mortise_test_context(test, "workspace", workspace);
    mortise_test_context(test, "session", "s-1");
    return test;
}

void end(mortise_test *test)
{
    remove_tree(workspace);
    mortise_test_close(test);
}
