/*
 * public_address - is this an address of the public network, and not of this machine?
 *
 * For requests whose target a model or a stranger chose: nothing of a private network, of this
 * machine (also by its public addresses), of a link, of multicast or of a range that is reserved;
 * and no IPv6 form of such an IPv4 address.  Thread-safe.
 */
#ifndef SERVICE_PUBLIC_ADDRESS_H
#define SERVICE_PUBLIC_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

bool address_is_public(const struct sockaddr *address, size_t length);

#endif
