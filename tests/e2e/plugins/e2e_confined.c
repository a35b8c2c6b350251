/* Tools that run in sandboxes of their own, and try what they must not be able to do. */
#include <mortise/sandbox.h>
#include <mortise/services.h>
#include <mortise/tool.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int prepared;   /* in the process that calls are copied from */
static int seen_calls; /* in that of a call: 0 before it */
static pid_t preparer;

static mortise_status prepare_once(const mortise_tool *self, const mortise_host *host)
{
    char what[16] = "";
    (void)self;
    prepared++;
    preparer = getpid();
    if (mortise_config_string(host, "prepare", what, sizeof(what)) != MORTISE_OK)
        return MORTISE_OK;
    if (strcmp(what, "fail") == 0) {
        mortise_refuse(host, "there is no engine");
        return MORTISE_FAILED;
    }
    if (strcmp(what, "crash") == 0)
        abort();
    if (strcmp(what, "hang") == 0)
        for (;;)
            pause();
    return MORTISE_OK;
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* ---- attempts: what becomes of them is the result --------------------------------------------- */

static const char *told(bool done)
{
    return done ? "done" : strerror(errno);
}

static const char *open_file(const char *path, int flags)
{
    int fd = open(path, flags, 0600);
    const char *text = told(fd >= 0);
    if (fd >= 0)
        close(fd);
    return text;
}

static const char *connect_to(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    const char *text =
        told(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    if (fd >= 0)
        close(fd);
    return text;
}

static const char *fork_one(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    const char *text = told(child > 0);
    if (child > 0)
        waitpid(child, NULL, 0);
    return text;
}

static const char *run_program(void)
{
    char *const words[] = {(char *)(uintptr_t) "true", NULL};
    execv("/bin/true", words);
    return told(false);
}

static void *finish_thread(void *done)
{
    *(bool *)done = true;
    return NULL;
}

static const char *start_thread(void)
{
    pthread_t thread;
    bool done = false;
    int code = pthread_create(&thread, NULL, finish_thread, &done);
    if (!code)
        pthread_join(thread, NULL);
    errno = code;
    return told(done);
}

static mortise_status tell_environment(mortise_call *call)
{
    char text[2000] = "";
    for (char **entry = environ; *entry; entry++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s\n", *entry);
    return mortise_reply(call, "%s", text);
}

static mortise_status tell_descriptors(mortise_call *call)
{
    char text[200] = "";
    for (int fd = 0; fd < 1000; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d ", fd);
    return mortise_reply(call, "%s", text);
}

static mortise_status tell_scratch(mortise_call *call)
{
    char folder[200] = "";
    struct stat about = {0};
    int count = 0;
    DIR *here = opendir(".");
    for (struct dirent *entry; here && (entry = readdir(here));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (here)
        closedir(here);
    if (!getcwd(folder, sizeof(folder)) || stat(".", &about) != 0)
        return mortise_fail(call, "%s", strerror(errno));
    return mortise_reply(call, "%s %o %d %d", folder, (unsigned)about.st_mode & 0777, count,
                         getenv("HOME") && strcmp(getenv("HOME"), folder) == 0);
}

/* A tree that is hard to remove: deep, without permissions, with a link that leads out. */
static mortise_status litter(mortise_call *call)
{
    char name[201];
    memset(name, 'd', 200);
    name[200] = '\0';
    int link = symlink("/etc", "link");
    close(open("file", O_CREAT | O_WRONLY, 0));
    for (int i = 0; i < 100; i++)
        if (mkdir(name, 0700) != 0 || chdir(name) != 0)
            return mortise_fail(call, "%s", strerror(errno));
    mkdir("shut", 0);
    return mortise_reply(call, "%d", link);
}

MORTISE_TOOL_WITH(attempt, (prepare(prepare_once)),
    MORTISE_SANDBOX_REQUIRED | MORTISE_CONCURRENCY_SAFE, "Try something.",
    (string,  what,   "What.",            required),
    (string,  path,   "A file.",          fallback("/etc/passwd")),
    (integer, number, "A port, or a process.", fallback(0)));

static mortise_status attempt(mortise_call *call, const attempt_args *args)
{
    const char *what = args->what, *text = "?";
    if (strcmp(what, "read") == 0)
        text = open_file(args->path, O_RDONLY);
    else if (strcmp(what, "write") == 0)
        text = open_file(args->path, O_WRONLY | O_CREAT);
    else if (strcmp(what, "connect") == 0)
        text = connect_to((int)args->number);
    else if (strcmp(what, "fork") == 0)
        text = fork_one();
    else if (strcmp(what, "exec") == 0)
        text = run_program();
    else if (strcmp(what, "thread") == 0)
        text = start_thread();
    else if (strcmp(what, "kill") == 0)
        text = told(kill(args->number ? (pid_t)args->number : getppid(), SIGKILL) == 0);
    else if (strcmp(what, "ptrace") == 0)
        text = told(ptrace(PTRACE_ATTACH, (pid_t)args->number, 0, 0) == 0);
    else if (strcmp(what, "environment") == 0)
        return tell_environment(call);
    else if (strcmp(what, "descriptors") == 0)
        return tell_descriptors(call);
    else if (strcmp(what, "scratch") == 0)
        return tell_scratch(call);
    else if (strcmp(what, "litter") == 0)
        return litter(call);
    else if (strcmp(what, "state") == 0)
        return mortise_reply(call, "%d %d %d", prepared, ++seen_calls, getppid() == preparer);
    return mortise_reply(call, "%s", text);
}

/* ---- limits and ends --------------------------------------------------------------------------- */

static void fill_memory(void)
{
    for (size_t size = (size_t)1 << 20;;) {
        char *block = malloc(size);
        if (block)
            memset(block, 1, size);
    }
}

static void fill_disk(void)
{
    static char block[1 << 20];
    int number = 0;
    for (;;) {
        char name[32];
        snprintf(name, sizeof(name), "%d", number++ / 4);
        int fd = open(name, O_CREAT | O_APPEND | O_WRONLY, 0600);
        ssize_t written = write(fd, block, sizeof(block));
        (void)written;
        close(fd);
    }
}

static void make_files(void)
{
    for (int number = 0;; number++) {
        char name[32];
        snprintf(name, sizeof(name), "%d", number);
        close(open(name, O_CREAT | O_WRONLY, 0600));
    }
}

static void emit_for_ever(mortise_call *call)
{
    char block[8000];
    memset(block, 'o', sizeof(block));
    for (;;)
        mortise_emit(call, "stdout", block, sizeof(block));
}

static void *sleep_for_ever(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

/* A sanitizer that looks for leaks at the end of a process cannot do so here. */
#if defined(__SANITIZE_ADDRESS__)
#define END(code) _exit(code)
#else
#define END(code) exit(code)
#endif

static void start_threads(void)
{
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int i = 0; i < 10000; i++)
        pthread_create(&thread, &small, sleep_for_ever, NULL);
    pause();
}

MORTISE_TOOL_WITH(end_by, (name("end_by")),
    MORTISE_SANDBOX_REQUIRED | MORTISE_CONCURRENCY_SAFE, "End in some way.",
    (string,  how, "How.", required));

static mortise_status end_by(mortise_call *call, const end_by_args *args)
{
    const char *how = args->how;
    if (strcmp(how, "loop") == 0)
        for (volatile int i = 0;; i++)
            ;
    if (strcmp(how, "sleep") == 0)
        sleep_for_ever(NULL);
    if (strcmp(how, "memory") == 0)
        fill_memory();
    if (strcmp(how, "disk") == 0)
        fill_disk();
    if (strcmp(how, "files") == 0)
        make_files();
    if (strcmp(how, "output") == 0)
        emit_for_ever(call);
    if (strcmp(how, "threads") == 0)
        start_threads();
    if (strcmp(how, "crash") == 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer has its own */
        raise(SIGSEGV);
    }
    if (strcmp(how, "exit") == 0)
        END(3);
    if (strcmp(how, "close") == 0) {
        close(3);
        sleep_for_ever(NULL);
    }
    if (strcmp(how, "garbage") == 0) {
        ssize_t written = write(3, "\xff\xff\xff\xff garbage", 12);
        (void)written;
        sleep_for_ever(NULL);
    }
    return mortise_reply(call, "ended");
}

/* ---- what goes on as ever ------------------------------------------------------------------------ */

MORTISE_TOOL(report_progress, MORTISE_SANDBOX_REQUIRED, "Tell how far it is.",
    (integer, wait_ms, "Between two steps.", fallback(0)));

static mortise_status report_progress(mortise_call *call, const report_progress_args *args)
{
    mortise_emit(call, "stdout", "first\n", 6);
    mortise_progress(call, 1, 2, "half");
    sleep_ms(args->wait_ms);
    mortise_emit(call, "stdout", "last\n", 5);
    return mortise_reply(call, "told");
}

MORTISE_TOOL(save_file, MORTISE_SANDBOX_REQUIRED, "Save an artifact.",
    (string, text, "What is in it.", required));

static mortise_status save_file(mortise_call *call, const save_file_args *args)
{
    const mortise_artifacts *artifacts = mortise_artifacts_of(call);
    uint32_t version = 0;
    if (!artifacts)
        return mortise_fail(call, "there are no artifacts here");
    mortise_status status = artifacts->save(call, MORTISE_OF_SESSION, "out.txt", "text/plain",
                                            args->text, strlen(args->text), &version);
    mortise_attach_bytes(call, "text/plain", "out.txt", args->text, strlen(args->text));
    return status ? status : mortise_reply(call, "version %u", version);
}

/* R16: the network is not to be had by asking for it either, nor is a secret. */
MORTISE_TOOL(ask_host, MORTISE_SANDBOX_REQUIRED, "Ask for what is not given.", MORTISE_NO_ARGS);

static const mortise_host *the_host;

static mortise_status ask_host(mortise_call *call, const ask_host_args *args)
{
    const mortise_secrets *secrets = the_host->service(the_host, MORTISE_SECRETS_ID);
    const char *secret = secrets ? secrets->get(the_host, "key") : NULL;
    (void)args;
    return mortise_reply(call, "http %s, secret %s", mortise_http_of(call) ? "yes" : "no",
                         secret ? secret : "no");
}

/* ---- helpers, and then no more ------------------------------------------------------------------- */

MORTISE_TOOL_WITH(help_itself,
    (runs("/bin/true", "/bin/sleep", "/usr/bin/true", "/usr/bin/sleep"), inside(MORTISE_INSIDE_PROCESSES)),
    MORTISE_SANDBOX_REQUIRED, "Run a program, and then none.",
    (boolean, leave, "Leave one behind, and hang.", fallback(false)));

static int run(const char *program, const char *argument, bool wait)
{
    int status = -1;
    char *const words[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)argument, NULL};
    pid_t child = fork();
    if (child == 0) {
        execv(program, words);
        _exit(126);
    }
    if (child > 0 && wait)
        waitpid(child, &status, 0);
    return child < 0 ? -errno : wait ? status : 0;
}

static mortise_status help_itself(mortise_call *call, const help_itself_args *args)
{
    int before = run("/bin/true", NULL, true);
    if (args->leave) {
        run("/bin/sleep", "1000.25", false);
        sleep_for_ever(NULL);
    }
    mortise_status shut = mortise_no_more_processes();
    int after = run("/bin/true", NULL, true);
    return mortise_reply(call, "%d, %d, %d, thread %s", before, (int)shut, after, start_thread());
}

/* ---- an ordinary one beside them ------------------------------------------------------------------ */

MORTISE_TOOL(ordinary, 0, "Count calls.", MORTISE_NO_ARGS);

static mortise_status ordinary(mortise_call *call, const ordinary_args *args)
{
    (void)args;
    return mortise_reply(call, "%d", ++seen_calls);
}

static void *open_confined(const mortise_host *host)
{
    the_host = host;
    return &prepared;
}

MORTISE_PLUGIN(.name = "confined", .version = "1.0", .open = open_confined,
               .tools = MORTISE_TOOLS(attempt, end_by, report_progress, save_file, ask_host,
                                      help_itself, ordinary));
