#include "language.h"

#include <mortise/sandbox.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "javascript.h"
#include "python.h"
#include "typescript.h"

void language_prepare(void)
{
    setenv("TZ", "UTC", 1); /* the zone of the machine is none of the code's business */
    tzset();
    python_prepare();
    javascript_prepare();
}

bool language_run(struct run *run, const char *language)
{
    const char *script = run->code, *map = NULL;
    if (strcmp(language, "typescript") == 0 && !typescript_compile(run, &script, &map))
        return false;
    if (mortise_no_more_processes() != MORTISE_OK) {
        mortise_fail_as(run->call, MORTISE_FORBIDDEN, "execute_code.sandbox",
                        "the sandbox cannot be closed: %s", strerror(errno));
        return false;
    }
    return strcmp(language, "python") == 0 ? python_run(run) : javascript_run(run, script, map);
}
