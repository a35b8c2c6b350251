/*
 * scene - a scratch folder, things outside it that the same user owns, and a child in a sandbox.
 *
 *     ROOT/scratch/link -> ../victim     ROOT/scratch/file
 *     ROOT/readable/file                 ROOT/victim
 *
 * Where the tests run as root, children are nobody, who owns all of it: so nothing but the sandbox
 * stands between a child and what is outside.
 */
#ifndef TEST_SANDBOX_SCENE_H
#define TEST_SANDBOX_SCENE_H

#include <stdbool.h>
#include <sys/types.h>

#include "sandbox/watch.h"

struct scene {
    char root[64], scratch[96], readable[96], victim[96], unix_path[96];
    int port, udp_port; /* listeners on the loopback */
    int inherited;      /* a descriptor of ROOT that a child has until it enters */
    pid_t parent;
    pid_t witness; /* a process of the same user, outside */
    int landlock;  /* the version that sandboxes are made for; 0: the kernel's */
};
extern struct scene scene;

/* For cmocka: the group's. */
int scene_set_up(void **state);
int scene_tear_down(void **state);

/* Everything outside as it was at the beginning. */
void scene_mend(void);
bool scene_is_unharmed(void);

/* What most tests use: libraries are readable, scratch is writable, nothing else. */
struct sandbox_rules scene_rules(void);
/* The same, and programs of the system run and fork. */
struct sandbox_rules scene_program_rules(void);

/* fork(), but what is in the buffers of stdio is written once. */
pid_t scene_fork(void);
void scene_become_nobody(void);

/* The exit code that says a layer failed: this plus the layer. */
enum { SCENE_LAYER = 200 };

/* Runs work() in a child, inside the sandbox of these rules (NULL: none), watched, until it ends.
 * Its value is the exit code. */
struct sandbox_end scene_run(const struct sandbox_rules *rules, int (*work)(void));
/* The same for a program; its first argument is its path. */
struct sandbox_end scene_run_program(const struct sandbox_rules *rules, const char *const *words);
/* The same for a script of the shell, and of what it starts nothing is left when it has ended. */
struct sandbox_end scene_run_script(const struct sandbox_rules *rules, const char *script);
/* Watches a child until it ends. */
struct sandbox_end scene_watch(const struct sandbox_rules *rules, pid_t child);

#endif
