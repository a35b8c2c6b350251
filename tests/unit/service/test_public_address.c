#include "inside.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <sys/un.h>

#include "service/public_address.h"

static bool is_public(const char *text)
{
    struct sockaddr_in ip4 = {.sin_family = AF_INET};
    struct sockaddr_in6 ip6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &ip4.sin_addr) == 1)
        return address_is_public((struct sockaddr *)&ip4, sizeof(ip4));
    assert_int_equal(inet_pton(AF_INET6, text, &ip6.sin6_addr), 1);
    return address_is_public((struct sockaddr *)&ip6, sizeof(ip6));
}

static void test_private(void **state)
{
    static const char *const addresses[] = {"0.0.0.0",
                                            "0.1.2.3",
                                            "10.0.0.1",
                                            "10.255.255.255",
                                            "100.64.0.1",
                                            "100.127.255.255",
                                            "127.0.0.1",
                                            "127.255.255.254",
                                            "169.254.169.254",
                                            "172.16.0.1",
                                            "172.31.255.255",
                                            "192.0.0.8",
                                            "192.0.2.1",
                                            "192.88.99.1",
                                            "192.168.1.1",
                                            "198.18.0.1",
                                            "198.19.255.255",
                                            "198.51.100.7",
                                            "203.0.113.7",
                                            "224.0.0.1",
                                            "239.255.255.250",
                                            "240.0.0.1",
                                            "255.255.255.255",
                                            "::",
                                            "::1",
                                            "::2",
                                            "::127.0.0.1",
                                            "::8.8.8.8",
                                            "::ffff:127.0.0.1",
                                            "::ffff:10.0.0.1",
                                            "::ffff:169.254.169.254",
                                            "::ffff:0:8.8.8.8",
                                            "64:ff9b::10.0.0.1",
                                            "64:ff9b::7f00:1",
                                            "64:ff9b:1::1",
                                            "100::1",
                                            "2001::1",
                                            "2001:2::1",
                                            "2001:10::1",
                                            "2001:db8::1",
                                            "2002:7f00:1::",
                                            "2002:c0a8:101::1",
                                            "2002:a00:1::",
                                            "3fff::1",
                                            "3fff:fff::1",
                                            "4000::1",
                                            "fc00::1",
                                            "fd12:3456::1",
                                            "fe80::1",
                                            "fec0::1",
                                            "ff02::1",
                                            "1234::1",
                                            "e000::1"};
    (void)state;
    for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++)
        if (is_public(addresses[i]))
            fail_msg("%s", addresses[i]);
}

static void test_public(void **state)
{
    static const char *const addresses[] = {
        "1.1.1.1",         "8.8.8.8",         "9.255.255.255",        "11.0.0.0",
        "100.63.255.255",  "100.128.0.0",     "126.255.255.255",      "128.0.0.1",
        "169.253.255.255", "169.255.0.0",     "172.15.255.255",       "172.32.0.0",
        "192.0.1.1",       "192.167.255.255", "192.169.0.0",          "198.17.255.255",
        "198.20.0.0",      "223.255.255.255", "2606:4700:4700::1111", "2001:4860:4860::8888",
        "2001:200::1",     "2400:cb00::1",    "::ffff:8.8.8.8",       "64:ff9b::8.8.8.8",
        "2002:808:808::1", "3fff:1000::1"};
    (void)state;
    for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++)
        if (!is_public(addresses[i]))
            fail_msg("%s", addresses[i]);
}

static void test_this_machine(void **state)
{
    struct ifaddrs *all;
    (void)state;
    assert_int_equal(getifaddrs(&all), 0);
    for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
        if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET)
            assert_false(address_is_public(one->ifa_addr, sizeof(struct sockaddr_in)));
        if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET6)
            assert_false(address_is_public(one->ifa_addr, sizeof(struct sockaddr_in6)));
    }
    freeifaddrs(all);
}

/* A machine with an address of the public network. */
static struct ifaddrs *own;

int __wrap_getifaddrs(struct ifaddrs **all);
void __wrap_freeifaddrs(struct ifaddrs *all);
int __real_getifaddrs(struct ifaddrs **all);
void __real_freeifaddrs(struct ifaddrs *all);

int __wrap_getifaddrs(struct ifaddrs **all)
{
    *all = own;
    return own ? 0 : __real_getifaddrs(all);
}

void __wrap_freeifaddrs(struct ifaddrs *all)
{
    if (!own)
        __real_freeifaddrs(all);
}

static void test_public_addresses_of_this_machine(void **state)
{
    struct sockaddr_in6 ip6 = {.sin6_family = AF_INET6};
    struct sockaddr_in ip4 = {.sin_family = AF_INET};
    inet_pton(AF_INET6, "2606:4700::7", &ip6.sin6_addr);
    inet_pton(AF_INET, "8.8.8.8", &ip4.sin_addr);
    struct ifaddrs nothing = {0};
    struct ifaddrs second = {.ifa_next = &nothing, .ifa_addr = (struct sockaddr *)&ip6};
    struct ifaddrs first = {.ifa_next = &second, .ifa_addr = (struct sockaddr *)&ip4};
    (void)state;
    own = &first;
    assert_false(is_public("8.8.8.8"));
    assert_false(is_public("::ffff:8.8.8.8"));
    assert_false(is_public("64:ff9b::8.8.8.8"));
    assert_false(is_public("2002:808:808::1"));
    assert_false(is_public("2606:4700::7"));
    assert_true(is_public("8.8.8.9"));
    assert_true(is_public("64:ff9b::8.8.8.9"));
    assert_true(is_public("2606:4700::8"));
    own = NULL;
}

static void test_other_families(void **state)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in cut = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x08080808)};
    (void)state;
    assert_false(address_is_public((struct sockaddr *)&local, sizeof(local)));
    assert_false(address_is_public((struct sockaddr *)&cut, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_private),
        cmocka_unit_test(test_public),
        cmocka_unit_test(test_this_machine),
        cmocka_unit_test(test_public_addresses_of_this_machine),
        cmocka_unit_test(test_other_families),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
