/*
 * launch - runs one program and tells what that took.
 *
 *     launch OUTPUT_FILE PROGRAM [ARGUMENT...]
 *     {"status": 0, "started": T, "wall_ns": N, "cpu_us": N, "peak_kb": N}
 *
 * `started` is CLOCK_MONOTONIC in nanoseconds, just before posix_spawn().  The program gets an
 * empty input; its output goes to the file.
 *
 * A program of its own, because the kernel counts what a process had in memory before exec()
 * into its peak: started by an interpreter, everything would seem to need what that needs.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t microseconds(struct timeval time)
{
    return (int64_t)time.tv_sec * 1000000 + time.tv_usec;
}

int main(int argc, char **argv)
{
    posix_spawn_file_actions_t files;
    struct rusage usage;
    pid_t pid;
    int status;
    if (argc < 3) {
        fputs("usage: launch OUTPUT_FILE PROGRAM [ARGUMENT...]\n", stderr);
        return 2;
    }
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);

    int64_t started_ns = now_ns();
    int code = posix_spawn(&pid, argv[2], &files, NULL, argv + 2, environ);
    if (code != 0 || wait4(pid, &status, 0, &usage) != pid) {
        fprintf(stderr, "launch: cannot run '%s': %s\n", argv[2], strerror(code));
        return 1;
    }
    int64_t ended_ns = now_ns();
    posix_spawn_file_actions_destroy(&files);
    printf("{\"status\": %d, \"started\": %lld, \"wall_ns\": %lld, \"cpu_us\": %lld, "
           "\"peak_kb\": %ld}\n",
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), (long long)started_ns,
           (long long)(ended_ns - started_ns),
           (long long)(microseconds(usage.ru_utime) + microseconds(usage.ru_stime)),
           usage.ru_maxrss);
    return 0;
}
