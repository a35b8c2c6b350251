/* gemini_result - the result of a tool as a request of Gemini has it (F70, F71). */
#ifndef PROVIDER_GEMINI_RESULT_H
#define PROVIDER_GEMINI_RESULT_H

#include "provider/wire_parts.h"

/* Appends ,"response":{…} of a result without parts. */
void gemini_make_result(const struct item *item, struct text *out);
/* Appends ,"response":{…} and ,"parts":[…] of item `index`, a result that has parts.  It depends on
 * the model, so its bytes are not kept. */
void gemini_put_result(const struct wire_writer *writer, size_t index);

#endif
