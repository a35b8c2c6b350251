/* Any bytes as a response of this format; see fuzz_decoder.h. */
#include "fuzz_decoder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_decoder(&wire_openai_responses, (const char *)data, size);
    return 0;
}
