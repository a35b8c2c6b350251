/*
 * pcre2_api - PCRE2 through a table of functions, loaded on first need.
 *
 * A schema without patterns never loads it.  Thread-safe.
 */
#ifndef SCHEMA_PCRE2_API_H
#define SCHEMA_PCRE2_API_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/error.h"

struct pcre2_api {
    pcre2_general_context *(*general_context_create)(void *(*)(PCRE2_SIZE, void *),
                                                     void (*)(void *, void *), void *);
    void (*general_context_free)(pcre2_general_context *);
    pcre2_compile_context *(*compile_context_create)(pcre2_general_context *);
    void (*compile_context_free)(pcre2_compile_context *);
    int (*set_compile_extra_options)(pcre2_compile_context *, uint32_t);
    int (*set_newline)(pcre2_compile_context *, uint32_t);
    pcre2_code *(*compile)(PCRE2_SPTR, PCRE2_SIZE, uint32_t, int *, PCRE2_SIZE *,
                           pcre2_compile_context *);
    void (*code_free)(pcre2_code *);
    pcre2_match_context *(*match_context_create)(pcre2_general_context *);
    void (*match_context_free)(pcre2_match_context *);
    int (*set_match_limit)(pcre2_match_context *, uint32_t);
    int (*set_heap_limit)(pcre2_match_context *, uint32_t);
    int (*set_callout)(pcre2_match_context *, int (*)(pcre2_callout_block *, void *), void *);
    pcre2_match_data *(*match_data_create)(uint32_t, pcre2_general_context *);
    void (*match_data_free)(pcre2_match_data *);
    int (*match)(const pcre2_code *, PCRE2_SPTR, PCRE2_SIZE, PCRE2_SIZE, uint32_t,
                 pcre2_match_data *, pcre2_match_context *);
    int (*get_error_message)(int, PCRE2_UCHAR *, PCRE2_SIZE);
};

/* NULL with *error (kind config) that names the package to install. */
const struct pcre2_api *pcre2_api(struct error *error);

#endif
