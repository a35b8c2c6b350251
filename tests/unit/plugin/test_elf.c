#include "cmocka_all.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/elf.h"

/* ---- the sample and what is made of it ---- */

static unsigned char *sample;
static size_t sample_size;

static int read_sample(void **state)
{
    (void)state;
    FILE *file = fopen(SAMPLE, "rb");
    struct stat status;
    if (!file || fstat(fileno(file), &status) != 0)
        return -1;
    sample_size = (size_t)status.st_size;
    sample = malloc(sample_size);
    size_t got = sample ? fread(sample, 1, sample_size, file) : 0;
    fclose(file);
    return got == sample_size ? 0 : -1;
}

static int free_sample(void **state)
{
    (void)state;
    free(sample);
    return 0;
}

/* Bytes as a file: what a descriptor is read with differs from memory. */
static int file_of(const void *data, size_t size)
{
    int fd = memfd_create("sample", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    return fd;
}

/* The same words, whichever way the bytes are read. */
static void refused(const void *data, size_t size, const char *why)
{
    struct elf_info info;
    struct error from_memory = ERROR_INIT, from_file = ERROR_INIT;
    assert_false(elf_inspect_memory(data, size, &info, &from_memory));
    assert_has(from_memory.message, why);
    assert_int_equal(from_memory.kind, ERROR_PLUGIN);

    int fd = file_of(data, size);
    assert_false(elf_inspect(fd, &info, &from_file));
    assert_string_equal(from_file.message, from_memory.message);
    close(fd);
}

static void *copy_sample(void)
{
    void *copy = malloc(sample_size);
    assert_non_null(copy);
    return memcpy(copy, sample, sample_size);
}

static size_t place_of(const void *needle, size_t length)
{
    const unsigned char *found = memmem(sample, sample_size, needle, length);
    assert_non_null(found);
    return (size_t)(found - sample);
}

/* ---- tests ---- */

static void test_good(void **state)
{
    (void)state;
    struct elf_info info = {0};
    struct error error = ERROR_INIT;
    int fd = open(SAMPLE, O_RDONLY | O_CLOEXEC);
    assert_true(elf_inspect(fd, &info, &error));
    assert_int_equal(info.stamp.abi_major, MORTISE_ABI_MAJOR);
    assert_int_equal(info.stamp.abi_minor, MORTISE_ABI_MINOR);
    assert_true(elf_symbols_resolve(fd, &error));
    close(fd);
    assert_true(elf_inspect_memory(sample, sample_size, &info, &error));
}

static void test_no_shared_object(void **state)
{
    (void)state;
    refused("", 0, "it is empty: copy or build it again");
    refused("#!/bin/sh\n", 10, "it is no shared object (not ELF)");
    refused("\x7f"
            "EL",
            3, "it is no shared object (not ELF)");
    refused(sample, 40, "it is cut short");
}

/* What the header says, one lie at a time. */
static void test_header(void **state)
{
    (void)state;
    Elf64_Ehdr *header = copy_sample();
    uint16_t machine = header->e_machine;
    header->e_machine = EM_S390;
    refused(header, sample_size, "it is built for s390, this host is ");
    header->e_machine = 4711;
    refused(header, sample_size, "it is built for machine 4711, this host is ");
    header->e_machine = machine;
    header->e_ident[EI_CLASS] = ELFCLASS32;
    refused(header, sample_size, "it is built for 32 bits");
    header->e_ident[EI_CLASS] = ELFCLASS64;
    header->e_type = ET_EXEC;
    refused(header, sample_size, "it is a program, no shared object");
    header->e_type = ET_REL;
    refused(header, sample_size, "it is an object file, no shared object");
    header->e_type = ET_DYN;
    header->e_phnum = 0;
    refused(header, sample_size, "it has no table of segments");
    free(header);
}

static void test_other_files_of_the_system(void **state)
{
    (void)state;
    struct elf_info info;
    struct error error = ERROR_INIT;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_false(elf_inspect(fd, &info, &error));
    assert_has(error.message, "it is a program, no shared object");
    close(fd);
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], *path = NULL;
    while (!path && fgets(line, sizeof(line), maps))
        if (strstr(line, "/libc.so.6"))
            path = strchr(line, '/');
    fclose(maps);
    if (!path)
        skip();
    path[strcspn(path, "\n")] = '\0';
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_false(elf_inspect(fd, &info, &error));
    assert_has(error.message, "it is no mortise plugin");
    close(fd);
}

static void test_exports(void **state)
{
    (void)state;
    unsigned char *copy = copy_sample();
    /* In .dynstr, which comes before .strtab. */
    size_t stamp = place_of("mortise_plugin_stamp", 20), entry = place_of("tool_definition", 15);
    copy[stamp] = 'M';
    refused(copy, sample_size, "it has no mortise_plugin_stamp");
    copy[entry] = 'T';
    refused(copy, sample_size, "it is no mortise plugin");
    copy[stamp] = 'm';
    refused(copy, sample_size, "it has no tool_definition()");
    free(copy);
}

static void test_versions(void **state)
{
    (void)state;
    unsigned char *copy = copy_sample();
    mortise_stamp stamp = {MORTISE_MAGIC, MORTISE_ABI_MAJOR, MORTISE_ABI_MINOR};
    size_t place = place_of(&stamp, sizeof(stamp));
    char words[100];

    stamp.abi_major++;
    memcpy(copy + place, &stamp, sizeof(stamp));
    snprintf(words, sizeof(words),
             "it is built for plugin interface 2.%u, this host has 1.%u: update", MORTISE_ABI_MINOR,
             MORTISE_ABI_MINOR);
    refused(copy, sample_size, words);
    stamp.abi_major = 0;
    memcpy(copy + place, &stamp, sizeof(stamp));
    snprintf(words, sizeof(words),
             "it is built for plugin interface 0.%u, this host has 1.%u: rebuild",
             MORTISE_ABI_MINOR, MORTISE_ABI_MINOR);
    refused(copy, sample_size, words);
    stamp = (mortise_stamp){MORTISE_MAGIC, MORTISE_ABI_MAJOR, MORTISE_ABI_MINOR + 1};
    memcpy(copy + place, &stamp, sizeof(stamp));
    struct elf_info info;
    assert_true(elf_inspect_memory(copy, sample_size, &info, NULL));
    assert_int_equal(info.stamp.abi_minor, MORTISE_ABI_MINOR + 1);
    stamp.magic = 0;
    memcpy(copy + place, &stamp, sizeof(stamp));
    refused(copy, sample_size, "its mortise_plugin_stamp holds no stamp");
    free(copy);
}

/* Every copy is as large as it says, so that AddressSanitizer sees a read behind it. */
static void test_every_truncation_is_refused(void **state)
{
    (void)state;
    for (size_t size = 0; size < sample_size; size += size < 1024 ? 1 : 61) {
        void *copy = malloc(size ? size : 1);
        memcpy(copy, sample, size);
        struct elf_info info;
        struct error error = ERROR_INIT;
        assert_false(elf_inspect_memory(copy, size, &info, &error));
        assert_true(error.message[0]);
        free(copy);
    }
}

static uint64_t random_state = 1;

static size_t random_below(size_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(random_state >> 33) % limit;
}

/* Where the tables are; sections and debug data are never looked at. */
static size_t random_place(void)
{
    size_t tables = sample_size < 4096 ? sample_size : 4096;
    return random_below(4) ? random_below(tables) : random_below(sample_size);
}

static void test_flipped_bytes_never_crash(void **state)
{
    (void)state;
    unsigned char *copy = copy_sample();
    for (int round = 0; round < 20000; round++) {
        size_t places[8], count = 1 + random_below(8);
        for (size_t i = 0; i < count; i++) {
            places[i] = random_place();
            copy[places[i]] = (unsigned char)(random_below(3) ? random_below(256) : 0xff);
        }
        struct elf_info info;
        struct error error = ERROR_INIT;
        bool good = elf_inspect_memory(copy, sample_size, &info, &error);
        assert_true(good || error.message[0]);
        for (size_t i = 0; i < count; i++)
            copy[places[i]] = sample[places[i]];
    }
    free(copy);
}

/* The same through a descriptor, and the search for symbols. */
static void test_flipped_bytes_in_a_file(void **state)
{
    (void)state;
    int fd = file_of(sample, sample_size);
    for (int round = 0; round < 200; round++) {
        size_t place = random_place();
        unsigned char byte = (unsigned char)random_below(256);
        assert_int_equal(pwrite(fd, &byte, 1, (off_t)place), 1);
        struct elf_info info;
        struct error error = ERROR_INIT;
        bool good = elf_inspect(fd, &info, &error);
        assert_true(good || error.message[0]);
        good = elf_symbols_resolve(fd, &error);
        assert_true(good || error.message[0]);
        assert_int_equal(pwrite(fd, &sample[place], 1, (off_t)place), 1);
    }
    close(fd);
}

static void test_missing_symbol_and_library(void **state)
{
    (void)state;
    unsigned char *copy = copy_sample();
    struct error error = ERROR_INIT;
    size_t place = place_of("strchr", 6); /* in .dynstr */
    memcpy(copy + place, "sTrchr", 6);
    int fd = file_of(copy, sample_size);
    assert_false(elf_symbols_resolve(fd, &error));
    assert_has(error.message, "it needs the symbol 'sTrchr', which nothing defines: link");
    close(fd);

    memcpy(copy + place, "strchr", 6);
    place = place_of("libc.so.6", 9);
    memcpy(copy + place, "libc.so.x", 9);
    fd = file_of(copy, sample_size);
    assert_false(elf_symbols_resolve(fd, &error));
    assert_has(error.message, "it needs the library 'libc.so.x', which is not there: install it");
    close(fd);
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_no_shared_object),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_other_files_of_the_system),
        cmocka_unit_test(test_exports),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_flipped_bytes_never_crash),
        cmocka_unit_test(test_flipped_bytes_in_a_file),
        cmocka_unit_test(test_missing_symbol_and_library),
    };
    return cmocka_run_group_tests(tests, read_sample, free_sample);
}
