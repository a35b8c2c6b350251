/* A file that says it is a plugin. */
#include <stddef.h>
#include <stdint.h>

#include "plugin/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct elf_info info;
    struct error error = ERROR_INIT;
    elf_inspect_memory(data, size, &info, &error);
    return 0;
}
