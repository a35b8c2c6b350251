/* request - what a tool or a hook in its own process asks the host for, and the answers. */
#ifndef REMOTE_REQUEST_H
#define REMOTE_REQUEST_H

#include "remote/exchange.h"

/* A service that this call may use, or NULL. */
const void *request_find_service(struct exchange *exchange, const char *id);

/* Carries it out and answers.  False: it is none that may be asked here, or it is wrong; or the
 * process is over, and exchange->failure says so. */
bool request_answer(struct exchange *exchange, struct parcel *message);
/* The same for services (request_service.c) and for what only hooks ask (request_hook.c). */
bool request_service(struct exchange *exchange, struct parcel *message);
bool request_hook(struct exchange *exchange, struct parcel *message);

/* Begins an answer in exchange->out with a status, and sends one. */
void request_begin(struct exchange *exchange, mortise_status status);
bool request_status(struct exchange *exchange, mortise_status status);

/* The next message of the lane, and what is in exchange->out sent (exchange.c). */
bool exchange_next(struct exchange *exchange, struct parcel *message);
bool exchange_answer(struct exchange *exchange);

#endif
