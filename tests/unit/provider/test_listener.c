/* Whose a server on this machine is, by the tables of the kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "provider/listener.h"

#define HEADING                                                                                    \
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "  \
    "inode\n"
/* A line of /proc/net/tcp: port 0x2CAA is 11434. */
#define LINE(address, port, state, uid)                                                            \
    "   0: " address ":" port " 00000000:0000 " state                                              \
    " 00000000:00000000 00:00000000 00000000  " uid                                                \
    "        0 1234 1 0000000000000000 100 0 0 10 0\n"
#define LINE6(address, port, state, uid)                                                           \
    "   0: " address ":" port " 00000000000000000000000000000000:0000 " state                      \
    " 00000000:00000000 00:00000000 00000000  " uid "        0 1234 1 0000000000000000 100 0 0\n"

enum { PORT = 11434, USER = 1000 };

static void test_tables(void **state)
{
    static const struct {
        const char *what, *tcp, *tcp6;
        bool trusted;
    } cases[] = {
        {"nobody", HEADING, NULL, false},
        {"no tables", NULL, NULL, false},
        {"the user", HEADING LINE("0100007F", "2CAA", "0A", "1000"), NULL, true},
        {"root", HEADING LINE("0100007F", "2CAA", "0A", "0"), NULL, true},
        {"the system's own", HEADING LINE("00000000", "2CAA", "0A", "  998"), NULL, true},
        {"another user", HEADING LINE("0100007F", "2CAA", "0A", "1001"), NULL, false},
        {"one of a container", HEADING LINE("0100007F", "2CAA", "0A", "65534"), NULL, false},
        {"another port", HEADING LINE("0100007F", "2CAB", "0A", "1000"), NULL, false},
        {"a connection", HEADING LINE("0100007F", "2CAA", "01", "1000"), NULL, false},
        {"another address", HEADING LINE("0101A8C0", "2CAA", "0A", "1000"), NULL, false},
        {"both",
         HEADING LINE("0100007F", "2CAA", "0A", "1000") LINE("0200007F", "2CAA", "0A", "1001"),
         NULL, false},
        {"another user elsewhere",
         HEADING LINE("0101A8C0", "2CAA", "0A", "1001") LINE("0100007F", "2CAA", "0A", "1000"),
         NULL, true},
        {"IPv6, every address", HEADING,
         LINE6("00000000000000000000000000000000", "2CAA", "0A", "1000"), true},
        {"IPv6, loopback", HEADING, LINE6("00000000000000000000000001000000", "2CAA", "0A", "1000"),
         true},
        {"IPv6, another user", HEADING LINE("0100007F", "2CAA", "0A", "1000"),
         LINE6("00000000000000000000000001000000", "2CAA", "0A", "1001"), false},
        {"IPv4 as IPv6", HEADING, LINE6("0000000000000000FFFF00000100007F", "2CAA", "0A", "1000"),
         true},
        {"what cannot be read", "   0: 0100007F", "\n\n0: 0:0 0:0", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (listener_table_is_trusted(cases[i].tcp, cases[i].tcp6, PORT, USER) != cases[i].trusted)
            fail_msg("%s", cases[i].what);
}

/* A machine with many connections has a long table; each of its lines is looked at once. */
static void test_a_long_table(void **state)
{
    enum { LINES = 100000, MOST_SECONDS = 10 };
    struct text table = TEXT_INIT;
    (void)state;
    text_puts(&table, HEADING);
    for (int i = 0; i < LINES; i++)
        text_puts(&table, LINE("0100007F", "2CAA", "01", "1001"));
    text_puts(&table, LINE("0100007F", "2CAA", "0A", "1000"));
    assert_false(table.failed);
    clock_t start = clock();
    assert_true(listener_table_is_trusted(table.data, NULL, PORT, USER));
    assert_true(clock() - start < (clock_t)MOST_SECONDS * CLOCKS_PER_SEC);
    text_release(&table);
}

/* The kernel's real table has the form that is expected. */
static void test_this_process(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    (void)state;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    assert_false(listener_is_trusted(ntohs(address.sin_port)));
    assert_int_equal(listen(fd, 1), 0);
    assert_true(listener_is_trusted(ntohs(address.sin_port)));
    close(fd);
    assert_false(listener_is_trusted(ntohs(address.sin_port)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_a_long_table),
        cmocka_unit_test(test_this_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
