/* suggest - the name that was probably meant: "did you mean 'unit'?" */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

struct suggestion {
    const char *wrong;
    const char *best; /* the nearest name so far, or NULL when none is near */
    unsigned distance;
};

void suggestion_begin(struct suggestion *suggestion, const char *wrong);
void suggestion_consider(struct suggestion *suggestion, const char *name);

#endif
