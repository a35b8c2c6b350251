/*
 * models - which models a provider's server says it has.
 *
 * How a server is asked and what it answers is the wire's (struct wire_models, below); pages are
 * walked here, and what could not be behind "-m PROVIDER/" is left out: the names are a stranger's.
 */
#ifndef PROVIDER_MODELS_H
#define PROVIDER_MODELS_H

#include "provider/http_get.h"

/* How the servers of a format list their models. */
struct wire_models {
    const char *path; /* behind the base URL, with the size of a page if it can be chosen */
    const char *mark; /* "&after_id=": before the mark of the next page; NULL: there is one page */
    const char *list; /* the member that holds them */
    const char *id;   /* and the one of each that is its name … */
    const char *prefix;                      /* … behind this, if it is there */
    bool (*offers)(const json_t *model);     /* whether it can be talked with; NULL: all can */
    const char *(*next)(const json_t *page); /* the mark of the next page, borrowed, or NULL */
};

extern const struct wire_models models_openai;
extern const struct wire_models models_anthropic;
extern const struct wire_models models_gemini;

struct model {
    char *id;
    int64_t created; /* seconds since 1970; 0: the server does not say */
};

struct model_list {
    struct model *items; /* in the server's order */
    size_t count, capacity;
    size_t left_out; /* names that no model can have */
};
void model_list_release(struct model_list *list);

/* Asks the server of `get`, which is one of the profile's.  False with *error, and the list holds
 * what was read before. */
bool models_read(struct http_get *get, const struct profile *profile, struct model_list *list,
                 struct error *error);

#endif
