#include "plugin/elf_file.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DYNAMIC 1024 /* entries of the dynamic table that are looked at */
#define MAX_CHAIN   4096 /* symbols in one bucket of a hash table */
#define CHUNK       32   /* entries that are read at once */

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#error "tell elf_file.c the EM_ number of this machine"
#endif
#if __BYTE_ORDER == __LITTLE_ENDIAN
#define OWN_ORDER ELFDATA2LSB
#else
#define OWN_ORDER ELFDATA2MSB
#endif

/* ---- bytes ---- */

static bool read_fully(int fd, void *out, size_t length, uint64_t offset)
{
    char *to = out;
    while (length) {
        ssize_t got = pread(fd, to, length, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        offset += (uint64_t)got;
        length -= (size_t)got;
    }
    return true;
}

/* Whether a part lies inside a whole of `size` bytes. */
static bool fits(uint64_t size, uint64_t offset, uint64_t length)
{
    return offset <= size && length <= size - offset;
}

static bool copy_from(const struct elf_window *window, uint64_t offset, void *out, size_t length)
{
    if (offset < window->offset || !fits(window->length, offset - window->offset, length))
        return false;
    memcpy(out, window->bytes + (offset - window->offset), length);
    return true;
}

static bool fill(struct elf_file *file, struct elf_window *window, uint64_t offset)
{
    uint64_t left = file->size - offset;
    size_t length = left < ELF_WINDOW_BYTES ? (size_t)left : ELF_WINDOW_BYTES;
    window->length = 0;
    if (!read_fully(file->fd, window->bytes, length, offset))
        return false;
    window->offset = offset;
    window->length = length;
    return true;
}

static bool read_at(struct elf_file *file, uint64_t offset, void *out, size_t length)
{
    if (!fits(file->size, offset, length))
        return false;
    if (file->memory) {
        memcpy(out, file->memory + offset, length);
        return true;
    }
    if (copy_from(&file->head, offset, out, length) || copy_from(&file->other, offset, out, length))
        return true;
    if (length > ELF_WINDOW_BYTES)
        return read_fully(file->fd, out, length, offset);
    return fill(file, &file->other, offset) && copy_from(&file->other, offset, out, length);
}

/* All but the bytes of the windows, which their lengths guard. */
static void clear(struct elf_file *file)
{
    file->memory = NULL;
    file->head.offset = file->other.offset = 0;
    file->head.length = file->other.length = 0;
    memset(&file->header, 0, sizeof(*file) - offsetof(struct elf_file, header));
}

bool elf_file_open(struct elf_file *file, int fd, struct error *error)
{
    struct stat status;
    if (fstat(fd, &status) < 0 || status.st_size < 0)
        return error_set(error, ERROR_PLUGIN, "it cannot be read: %s", strerror(errno));
    clear(file);
    file->fd = fd;
    file->size = (uint64_t)status.st_size;
    return true;
}

void elf_file_open_memory(struct elf_file *file, const void *data, size_t size)
{
    clear(file);
    file->fd = -1;
    file->memory = data;
    file->size = size;
}

static bool read_head(struct elf_file *file, struct error *error)
{
    return file->memory || fill(file, &file->head, 0) ||
           error_set(error, ERROR_PLUGIN, "it cannot be read: %s", strerror(errno));
}

/* ---- the header ---- */

static bool cut_short(struct error *error)
{
    return error_set(error, ERROR_PLUGIN, "it is cut short: copy or build it again");
}

static bool damaged(const char *what, struct error *error)
{
    return error_set(error, ERROR_PLUGIN, "it is damaged (%s): build it again", what);
}

static void describe_machine(unsigned machine, char out[32])
{
    static const struct {
        unsigned machine;
        const char *name;
    } machines[] = {{EM_X86_64, "x86-64"}, {EM_AARCH64, "aarch64"}, {EM_386, "i386"},
                    {EM_ARM, "arm"},       {EM_RISCV, "riscv"},     {EM_PPC64, "ppc64"},
                    {EM_S390, "s390"},     {EM_MIPS, "mips"},       {EM_LOONGARCH, "loongarch"}};
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        if (machines[i].machine == machine) {
            snprintf(out, 32, "%s", machines[i].name);
            return;
        }
    }
    snprintf(out, 32, "machine %u", machine);
}

static bool check_machine(const Elf64_Ehdr *header, struct error *error)
{
    char theirs[32], ours[32];
    describe_machine(header->e_machine, theirs);
    describe_machine(OWN_MACHINE, ours);
    if (header->e_ident[EI_CLASS] == ELFCLASS32)
        return error_set(error, ERROR_PLUGIN,
                         "it is built for 32 bits, this host is %s: rebuild it for %s", ours, ours);
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != OWN_ORDER ||
        header->e_machine != OWN_MACHINE)
        return error_set(error, ERROR_PLUGIN,
                         "it is built for %s, this host is %s: rebuild it for %s", theirs, ours,
                         ours);
    return true;
}

static bool check_header(struct elf_file *file, struct error *error)
{
    Elf64_Ehdr *header = &file->header;
    if (!file->size)
        return error_set(error, ERROR_PLUGIN, "it is empty: copy or build it again");
    unsigned char magic[SELFMAG];
    if (!read_at(file, 0, magic, sizeof(magic)) || memcmp(magic, ELFMAG, SELFMAG) != 0)
        return error_set(error, ERROR_PLUGIN,
                         "it is no shared object (not ELF): a plugin is built with cc -shared");
    if (!read_at(file, 0, header, sizeof(*header)))
        return cut_short(error);
    if (!check_machine(header, error))
        return false;
    if (header->e_type != ET_DYN)
        return error_set(error, ERROR_PLUGIN,
                         "it is %s, no shared object: a plugin is built with cc -shared",
                         header->e_type == ET_REL    ? "an object file"
                         : header->e_type == ET_EXEC ? "a program"
                                                     : "another kind of ELF file");
    return true;
}

/* ---- segments ---- */

static bool check_segment(const struct elf_file *file, const Elf64_Phdr *segment,
                          struct error *error)
{
    if (!fits(file->size, segment->p_offset, segment->p_filesz))
        return cut_short(error);
    if (segment->p_type != PT_LOAD)
        return true;
    if (segment->p_filesz > segment->p_memsz)
        return damaged("a segment is larger than its memory", error);
    if (segment->p_vaddr > UINT64_MAX - segment->p_memsz)
        return damaged("a segment has no place in memory", error);
    return true;
}

static bool read_segments(struct elf_file *file, struct error *error)
{
    const Elf64_Ehdr *header = &file->header;
    if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0 ||
        header->e_phnum > ELF_MAX_SEGMENTS)
        return damaged("it has no table of segments", error);
    file->segment_count = header->e_phnum;
    if (!read_at(file, header->e_phoff, file->segments,
                 file->segment_count * sizeof(file->segments[0])))
        return cut_short(error);
    for (size_t i = 0; i < file->segment_count; i++)
        if (!check_segment(file, &file->segments[i], error))
            return false;
    /* The sections come last: their table shows best that the end is missing. */
    if (header->e_shoff &&
        !fits(file->size, header->e_shoff, (uint64_t)header->e_shnum * header->e_shentsize))
        return cut_short(error);
    return true;
}

bool elf_file_load(struct elf_file *file, uint64_t address, void *out, size_t length)
{
    for (size_t i = 0; i < file->segment_count; i++) {
        const Elf64_Phdr *segment = &file->segments[i];
        if (segment->p_type != PT_LOAD || address < segment->p_vaddr)
            continue;
        uint64_t skip = address - segment->p_vaddr;
        if (fits(segment->p_filesz, skip, length))
            return read_at(file, segment->p_offset + skip, out, length);
    }
    return false;
}

/* ---- the dynamic table ---- */

static bool take_entry(struct elf_file *file, const Elf64_Dyn *entry, uint64_t *rpath)
{
    uint64_t value = entry->d_un.d_val;
    switch (entry->d_tag) {
    case DT_STRTAB:
        file->strings = value;
        break;
    case DT_STRSZ:
        file->string_bytes = value;
        break;
    case DT_SYMTAB:
        file->symbols = value;
        break;
    case DT_SYMENT:
        return value == sizeof(Elf64_Sym);
    case DT_HASH:
        file->hash = value;
        break;
    case DT_GNU_HASH:
        file->gnu_hash = value;
        break;
    case DT_FLAGS_1:
        file->flags_1 = value;
        break;
    case DT_RPATH:
        *rpath = value;
        break;
    case DT_RUNPATH:
        file->runpath = value;
        break;
    case DT_NEEDED:
        if (file->needed_count == ELF_MAX_NEEDED)
            return false;
        file->needed[file->needed_count++] = value;
        break;
    default:
        break;
    }
    return true;
}

static const Elf64_Phdr *dynamic_segment(const struct elf_file *file)
{
    for (size_t i = 0; i < file->segment_count; i++)
        if (file->segments[i].p_type == PT_DYNAMIC)
            return &file->segments[i];
    return NULL;
}

static bool read_dynamic(struct elf_file *file, struct error *error)
{
    const Elf64_Phdr *segment = dynamic_segment(file);
    if (!segment)
        return damaged("it has no dynamic table", error);
    uint64_t count = segment->p_filesz / sizeof(Elf64_Dyn), rpath = 0;
    if (count > MAX_DYNAMIC)
        count = MAX_DYNAMIC;
    for (uint64_t i = 0; i < count;) {
        Elf64_Dyn entries[CHUNK];
        size_t some = count - i < CHUNK ? (size_t)(count - i) : CHUNK;
        if (!read_at(file, segment->p_offset + i * sizeof(Elf64_Dyn), entries,
                     some * sizeof(Elf64_Dyn)))
            return cut_short(error);
        for (size_t k = 0; k < some && entries[k].d_tag != DT_NULL; k++)
            if (!take_entry(file, &entries[k], &rpath))
                return damaged("its dynamic table cannot be read", error);
        i += some;
        if (entries[some - 1].d_tag == DT_NULL)
            break;
    }
    if (!file->runpath)
        file->runpath = rpath;
    if (!file->strings || !file->symbols || (!file->hash && !file->gnu_hash))
        return damaged("it has no table of symbols", error);
    if (file->flags_1 & DF_1_PIE)
        return error_set(error, ERROR_PLUGIN,
                         "it is a program, no shared object: a plugin is built with cc -shared");
    return true;
}

bool elf_file_read(struct elf_file *file, struct error *error)
{
    return read_head(file, error) && check_header(file, error) && read_segments(file, error) &&
           read_dynamic(file, error);
}

/* ---- strings and symbols ---- */

bool elf_file_string(struct elf_file *file, uint64_t offset, char out[ELF_MAX_STRING])
{
    if (offset >= file->string_bytes || file->strings > UINT64_MAX - offset)
        return false;
    uint64_t left = file->string_bytes - offset;
    size_t length = left < ELF_MAX_STRING ? (size_t)left : ELF_MAX_STRING;
    return elf_file_load(file, file->strings + offset, out, length) && memchr(out, '\0', length);
}

bool elf_file_symbol(struct elf_file *file, uint64_t index, Elf64_Sym *symbol)
{
    if (index > file->size / sizeof(*symbol))
        return false;
    uint64_t offset = index * sizeof(*symbol);
    return file->symbols <= UINT64_MAX - offset &&
           elf_file_load(file, file->symbols + offset, symbol, sizeof(*symbol));
}

static bool is_definition(struct elf_file *file, uint64_t index, const char *name,
                          Elf64_Sym *symbol)
{
    char found[ELF_MAX_STRING];
    return elf_file_symbol(file, index, symbol) && symbol->st_shndx != SHN_UNDEF &&
           ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
           elf_file_string(file, symbol->st_name, found) && strcmp(found, name) == 0;
}

/* Word `index` of a table of 32-bit words; both are anything. */
static bool load_word(struct elf_file *file, uint64_t table, uint64_t index, uint32_t *word)
{
    if (index > file->size / sizeof(*word) || table > UINT64_MAX - index * sizeof(*word))
        return false;
    return elf_file_load(file, table + index * sizeof(*word), word, sizeof(*word));
}

struct gnu_hash {
    uint32_t bucket_count, first_symbol, bloom_words, bloom_shift;
};

static bool load_gnu_hash(struct elf_file *file, struct gnu_hash *table)
{
    return elf_file_load(file, file->gnu_hash, table, sizeof(*table)) && table->bucket_count;
}

static bool find_gnu(struct elf_file *file, const char *name, Elf64_Sym *symbol)
{
    uint32_t hash = 5381;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        hash = hash * 33 + *c;

    struct gnu_hash table;
    if (!load_gnu_hash(file, &table))
        return false;
    uint64_t buckets = sizeof(table) / 4 + (uint64_t)table.bloom_words * 2; /* in words */
    uint32_t index, chain;
    if (!load_word(file, file->gnu_hash, buckets + hash % table.bucket_count, &index) ||
        index < table.first_symbol)
        return false;
    for (unsigned i = 0; i < MAX_CHAIN; i++, index++) {
        uint64_t place = buckets + table.bucket_count + (index - table.first_symbol);
        if (!load_word(file, file->gnu_hash, place, &chain))
            return false;
        if ((chain | 1) == (hash | 1) && is_definition(file, index, name, symbol))
            return true;
        if (chain & 1)
            return false;
    }
    return false;
}

static bool find_sysv(struct elf_file *file, const char *name, Elf64_Sym *symbol)
{
    uint32_t hash = 0;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        hash = (hash << 4) + *c;
        hash ^= (hash & 0xf0000000) >> 24;
        hash &= 0x0fffffff;
    }
    uint32_t counts[2], index;
    if (!elf_file_load(file, file->hash, counts, sizeof(counts)) || !counts[0] ||
        !load_word(file, file->hash, 2 + (uint64_t)(hash % counts[0]), &index))
        return false;
    for (unsigned i = 0; i < MAX_CHAIN && index; i++) {
        if (is_definition(file, index, name, symbol))
            return true;
        if (!load_word(file, file->hash, 2 + (uint64_t)counts[0] + index, &index))
            return false;
    }
    return false;
}

bool elf_file_find(struct elf_file *file, const char *name, Elf64_Sym *symbol)
{
    return file->gnu_hash ? find_gnu(file, name, symbol) : find_sysv(file, name, symbol);
}

/* The GNU table leaves undefined symbols out, and so they come first; the older table
 * counts all. */
uint64_t elf_file_undefined_end(struct elf_file *file)
{
    struct gnu_hash table;
    uint32_t counts[2];
    if (file->gnu_hash)
        return load_gnu_hash(file, &table) ? table.first_symbol : 0;
    return elf_file_load(file, file->hash, counts, sizeof(counts)) ? counts[1] : 0;
}
