/*
 * offline - a stand-in that is no language model, and says so.
 *
 * It picks the tool whose name, description and argument names share most words with the
 * prompt, fills the arguments that it can find in the prompt (quoted texts, numbers, words
 * of an enumeration, capitalised words), calls it, and answers with the result.
 */
#ifndef PROVIDER_OFFLINE_H
#define PROVIDER_OFFLINE_H

#include "provider/provider.h"

struct client *offline_client_new(struct error *error);

#endif
