/*
 * wire_id - the ids of calls as a provider accepts them (D14; FAULTS 122).
 *
 * What another provider gave, or a user's own program, may be no id here: too long, with a dot in
 * it, not of nine letters.  Such an id goes as a hash of itself, the same for the call and its
 * result.  Within a request no two calls get the same one, and which one a call gets depends on
 * nothing behind it, so that requests begin alike (D17).
 */
#ifndef PROVIDER_WIRE_ID_H
#define PROVIDER_WIRE_ID_H

#include "provider/wire_write.h"

struct wire_id;

/* Of one request; all zero at the beginning.  Made only where an id could be that of another. */
struct wire_ids {
    struct wire_id *items; /* in the order of the calls */
    struct wire_id *by_id;
    struct wire_id *by_sent;
    bool is_made;
};
void wire_ids_release(struct wire_ids *ids);

/* Whether the call's id goes as it is. */
bool wire_keeps_id(const struct wire_writer *writer, const struct item *call);

#endif
