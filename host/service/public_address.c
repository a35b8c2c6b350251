#include "service/public_address.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- IPv4 ---- */

/* What is no address of a host of the public network (IANA's registry of special addresses). */
static const struct {
    uint32_t network;
    int bits;
} reserved[] = {
    {0x00000000, 8},  /* this network */
    {0x0A000000, 8},  /* private */
    {0x64400000, 10}, /* shared by the customers of a carrier */
    {0x7F000000, 8},  /* this machine */
    {0xA9FE0000, 16}, /* the link; clouds have their metadata there */
    {0xAC100000, 12}, /* private */
    {0xC0000000, 24}, /* protocols */
    {0xC0000200, 24}, /* documentation */
    {0xC0586300, 24}, /* relays of 6to4, given up */
    {0xC0A80000, 16}, /* private */
    {0xC6120000, 15}, /* benchmarks */
    {0xC6336400, 24}, /* documentation */
    {0xCB007100, 24}, /* documentation */
    {0xE0000000, 3},  /* multicast, reserved, broadcast */
};

static bool ip4_is_public(uint32_t address)
{
    for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
        if ((address ^ reserved[i].network) >> (32 - reserved[i].bits) == 0)
            return false;
    return true;
}

/* ---- IPv6 ---- */

static bool begins(const uint8_t *bytes, const char *prefix, size_t length)
{
    return memcmp(bytes, prefix, length) == 0;
}

static uint32_t ip4_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The IPv4 address that this one leads to; NULL: it is no form of one. */
static const uint8_t *ip4_within(const uint8_t *bytes)
{
    if (begins(bytes, "\0\0\0\0\0\0\0\0\0\0\xFF\xFF", 12)) /* ::ffff:0:0/96, mapped */
        return bytes + 12;
    if (begins(bytes, "\0\x64\xFF\x9B\0\0\0\0\0\0\0\0", 12)) /* 64:ff9b::/96, NAT64 */
        return bytes + 12;
    return begins(bytes, "\x20\x02", 2) ? bytes + 2 : NULL; /* 2002::/16, 6to4 */
}

/* Of those that are no form of an IPv4 address: global unicast is 2000::/3. */
static bool ip6_is_public(const uint8_t *bytes)
{
    if (begins(bytes, "\x20\x01", 2) && bytes[2] < 2) /* 2001::/23: Teredo, protocols */
        return false;
    if (begins(bytes, "\x20\x01\x0D\xB8", 4)) /* 2001:db8::/32, documentation */
        return false;
    if (begins(bytes, "\x3F\xFF", 2) && bytes[2] < 0x10) /* 3fff::/20, documentation */
        return false;
    return bytes[0] >> 5 == 1;
}

/* ---- this machine ---- */

static const void *bytes_of(const struct sockaddr *address, size_t *length)
{
    if (address->sa_family == AF_INET) {
        *length = sizeof(struct in_addr);
        return (const char *)address + offsetof(struct sockaddr_in, sin_addr);
    }
    if (address->sa_family == AF_INET6) {
        *length = sizeof(struct in6_addr);
        return (const char *)address + offsetof(struct sockaddr_in6, sin6_addr);
    }
    *length = 0;
    return NULL;
}

/* When it cannot be known it is taken for one. */
static bool is_of_this_machine(const uint8_t *bytes, size_t length)
{
    struct ifaddrs *all;
    bool found = false;
    if (getifaddrs(&all) != 0)
        return true;
    for (const struct ifaddrs *one = all; one && !found; one = one->ifa_next) {
        size_t own_length = 0;
        const void *own = one->ifa_addr ? bytes_of(one->ifa_addr, &own_length) : NULL;
        found = own && own_length == length && memcmp(own, bytes, length) == 0;
    }
    freeifaddrs(all);
    return found;
}

bool address_is_public(const struct sockaddr *address, size_t length)
{
    size_t least =
        address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    size_t bytes_length;
    const uint8_t *bytes = bytes_of(address, &bytes_length);
    if (!bytes || length < least)
        return false;
    const uint8_t *within = bytes_length == 16 ? ip4_within(bytes) : NULL;
    if (within) {
        bytes = within;
        bytes_length = 4;
    }
    bool is_public = bytes_length == 4 ? ip4_is_public(ip4_at(bytes)) : ip6_is_public(bytes);
    return is_public && !is_of_this_machine(bytes, bytes_length);
}
