/*
 * network - what the user says about how servers are reached; what is NULL, the environment says.
 */
#ifndef PROVIDER_NETWORK_H
#define PROVIDER_NETWORK_H

struct network_settings {
    const char *proxy;       /* "" or "none": no proxy is asked */
    const char *ca_file;     /* PEM: the certificates that are trusted */
    const char *client_cert; /* PEM: what is shown to the model's server, and to no other */
    const char *client_key;  /* NULL: it is in the same file */
};

#endif
