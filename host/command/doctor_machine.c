/* doctor_machine - the terminal, and the language that its characters are in. */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/environment.h"
#include "command/doctor.h"

static void check_terminal(struct doctor *doctor)
{
    const struct output *out = &doctor->app->out;
    const char *term = getenv("TERM");
    bool dumb = !term || !*term || strcmp(term, "dumb") == 0;
    if (!out->terminal)
        doctor_tell(doctor, FINDING_OK, "terminal", NULL,
                    "standard output is none: answers are written to the byte");
    else if (dumb)
        doctor_tell(doctor, FINDING_WARNING, "terminal", "set TERM to what the terminal is",
                    "TERM is %s, so nothing is drawn or coloured",
                    term && *term ? term : "not set");
    else
        doctor_tell(doctor, FINDING_OK, "terminal", NULL, "TERM is %s, %u columns, %s colours",
                    term, output_width(out), out->color ? "with" : "without");
}

static const char *locale_name(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
        const char *value = environment_get(variables[i]);
        if (value)
            return value;
    }
    return "C";
}

/* What is written is UTF-8 in every case. */
static void check_locale(struct doctor *doctor)
{
    const char *name = locale_name();
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (!locale && errno == ENOMEM) {
        doctor_no_memory(doctor, "locale");
        return;
    }
    if (!locale) {
        doctor_tell(doctor, FINDING_WARNING, "locale", "install it, or set LC_ALL=C.UTF-8",
                    "'%s' is not installed", name);
        return;
    }
    const char *codes = nl_langinfo_l(CODESET, locale);
    if (strcasecmp(codes, "UTF-8") == 0)
        doctor_tell(doctor, FINDING_OK, "locale", NULL, "'%s' is UTF-8", name);
    else
        doctor_tell(doctor, FINDING_WARNING, "locale", "set LC_ALL=C.UTF-8 or another one of UTF-8",
                    "'%s' is %s, but answers are UTF-8", name, codes);
    freelocale(locale);
}

void doctor_machine(struct doctor *doctor)
{
    check_terminal(doctor);
    check_locale(doctor);
}
