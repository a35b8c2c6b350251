#include "provider/listener.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { MAX_TABLE_BYTES = 64 << 20, STATE_LISTEN = 0x0A, FIRST_PERSON = 1000 };

/* "127.x.x.x", "0.0.0.0", "::1", "::" and the IPv4 ones written as IPv6, in the kernel's order of
 * bytes (both hosts that Linux runs on in numbers are little-endian; elsewhere none fits, and
 * nobody is trusted). */
static bool answers_loopback(const char *address)
{
    static const char mapped[] = "0000000000000000FFFF0000";
    static const char one[] = "00000000000000000000000001000000";
    static const char any[] = "00000000000000000000000000000000";
    if (strlen(address) == 32 && strncmp(address, mapped, 24) == 0)
        address += 24;
    if (strlen(address) == 8)
        return strcmp(address, "00000000") == 0 || strcmp(address + 6, "7F") == 0;
    return strcmp(address, one) == 0 || strcmp(address, any) == 0;
}

struct verdict {
    unsigned trusted, others;
};

static void judge(const char *line, unsigned port, unsigned user, struct verdict *verdict)
{
    char address[33];
    unsigned local_port, state, uid;
    if (sscanf(line, " %*d: %32[0-9A-F]:%x %*[0-9A-F]:%*x %x %*x:%*x %*x:%*x %*x %u", address,
               &local_port, &state, &uid) != 4)
        return; /* the heading */
    if (state != STATE_LISTEN || local_port != port || !answers_loopback(address))
        return;
    if (uid < FIRST_PERSON || uid == user)
        verdict->trusted++;
    else
        verdict->others++;
}

/* A line is copied because sscanf() looks for the end of all that is behind it, and there is a line
 * for each connection of the machine.  What counts is in its first half. */
static void look(const char *table, unsigned port, unsigned user, struct verdict *verdict)
{
    while (table && *table) {
        char line[256];
        size_t length = strcspn(table, "\n");
        size_t taken = length < sizeof(line) ? length : sizeof(line) - 1;
        memcpy(line, table, taken);
        line[taken] = '\0';
        judge(line, port, user, verdict);
        table += length + (table[length] == '\n');
    }
}

bool listener_table_is_trusted(const char *tcp, const char *tcp6, unsigned port, unsigned user)
{
    struct verdict verdict = {0};
    look(tcp, port, user, &verdict);
    look(tcp6, port, user, &verdict);
    return verdict.trusted > 0 && verdict.others == 0;
}

bool listener_is_trusted(unsigned port)
{
    struct text tcp = TEXT_INIT;
    struct text tcp6 = TEXT_INIT;
    bool read = file_read("/proc/net/tcp", MAX_TABLE_BYTES, &tcp, NULL);
    file_read("/proc/net/tcp6", MAX_TABLE_BYTES, &tcp6, NULL); /* there may be no IPv6 */
    bool trusted = read && !tcp6.failed &&
                   listener_table_is_trusted(tcp.data, tcp6.data, port, (unsigned)getuid());
    text_release(&tcp);
    text_release(&tcp6);
    return trusted;
}
