/*
 * text_api - md4c and utf8proc through a table of functions, loaded on first need.
 *
 * Only an answer that is shown on a terminal needs them: commands that show none never load
 * them.  Thread-safe.
 */
#ifndef FRONTEND_TEXT_API_H
#define FRONTEND_TEXT_API_H

#include <stdbool.h>

#include <md4c.h>
#include <utf8proc.h>

struct text_api {
    int (*parse)(const MD_CHAR *, MD_SIZE, const MD_PARSER *, void *);                /* md_parse */
    int (*charwidth)(utf8proc_int32_t);                                   /* utf8proc_charwidth */
    utf8proc_bool (*grapheme_break)(utf8proc_int32_t, utf8proc_int32_t, utf8proc_int32_t *);
};

/* NULL when they are not installed; then text is shown as it is. */
const struct text_api *text_api(void);

#endif
