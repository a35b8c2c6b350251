/* sandbox - an empty home, an empty project and no variables of mortise's, for one test. */
#ifndef TEST_SANDBOX_H
#define TEST_SANDBOX_H

#include <sys/types.h>

/* For cmocka: makes a folder with home/ and project/, and goes into project/. */
int sandbox_enter(void **state);
int sandbox_leave(void **state);

/* The path of something in the sandbox; valid until the next four calls. */
const char *sandbox_path(const char *tail);
/* Writes a file of the sandbox with this mode; folders above it are made. */
void sandbox_write(const char *tail, const char *text, mode_t mode);

#define USER_FILE    "home/.config/mortise/config.json"
#define PROJECT_FILE "project/.mortise/config.json"

/* Has jansson use this program's malloc(), which can be made to fail. */
void sandbox_hook_json(void);

#endif
