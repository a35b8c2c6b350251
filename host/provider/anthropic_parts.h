/* anthropic_parts - a result with files and images as a request of Anthropic Messages has it. */
#ifndef PROVIDER_ANTHROPIC_PARTS_H
#define PROVIDER_ANTHROPIC_PARTS_H

#include "provider/wire_parts.h"

/* Appends "content" and "is_error" of item `index`, a result that has parts.  It depends on the
 * model, so its bytes are not kept. */
void anthropic_put_result(const struct wire_writer *writer, size_t index);

#endif
