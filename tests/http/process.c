/* process.c — see process.h. */
#include "tests/http/process.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARGUMENTS_MAX 32

extern char **environ;

static int handed_over = -1;

void process_hand_over(int listening_fd)
{
    handed_over = listening_fd;
}

static const char *binary(void)
{
    const char *path = getenv("TEST_SERVER");
    return path != NULL && *path != '\0' ? path : "build/release/suanpan";
}

double process_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void nap(void)
{
    usleep(2000);
}

/* The child's environment is ours without settings of the program, which it would obey or refuse. */
static char **clean_environment(const char *addition)
{
    size_t n = 0, kept = 0;
    while (environ[n] != NULL)
        n++;
    char **clean = calloc(n + 2, sizeof *clean);
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "SUANPAN_", 8) != 0)
            clean[kept++] = environ[i];
    if (addition != NULL)
        clean[kept] = strdup(addition);
    return clean;
}

static void spawn(struct process *p, const char *environment, char **arguments)
{
    char **clean = clean_environment(environment);
    arguments[0] = (char *)(uintptr_t)binary();
    p->status = -1;
    p->pid = fork();
    if (p->pid == 0) {
        /* No assertion in the child: even one that holds is a message on the test runner's own socket. */
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves no server behind */
        int out = open(p->out, O_CREAT | O_TRUNC | O_WRONLY, 0600),
            err = open(p->log, O_CREAT | O_TRUNC | O_WRONLY, 0600);
        int in = open("/dev/null", O_RDONLY);
        dup2(in, 0);
        dup2(out, 1);
        dup2(err, 2);
        if (handed_over >= 0)
            dup2(handed_over, 3);
        for (int fd = handed_over >= 0 ? 4 : 3; fd < 256; fd++)
            close(fd);
        execve(arguments[0], arguments, clean);
        _exit(127);
    }
    cr_assert(p->pid > 0);
    free(clean);
}

static void collect(char **arguments, size_t n, va_list list)
{
    char *argument;
    while ((argument = va_arg(list, char *)) != NULL) {
        cr_assert(n < ARGUMENTS_MAX - 1);
        arguments[n++] = argument;
    }
    arguments[n] = NULL;
}

static void name_files(struct process *p, const char *suffix)
{
    snprintf(p->db, sizeof p->db, "%s/catalog.db", p->folder);
    snprintf(p->log, sizeof p->log, "%s/log%s", p->folder, suffix);
    snprintf(p->out, sizeof p->out, "%s/out%s", p->folder, suffix);
}

static void make_folder(struct process *p)
{
    snprintf(p->folder, sizeof p->folder, "/tmp/suanpan-http-XXXXXX");
    cr_assert(mkdtemp(p->folder) != NULL);
    name_files(p, "");
}

static char *slurp(const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t size = 1 << 22, n = 0;
    char *text = calloc(1, size + 1);
    if (f != NULL) {
        n = fread(text, 1, size, f);
        fclose(f);
    }
    text[n] = '\0';
    return text;
}

char *process_log(const struct process *p)
{
    return slurp(p->log);
}

char *process_out(const struct process *p)
{
    return slurp(p->out);
}

void process_start(struct process *p, ...)
{
    char *arguments[ARGUMENTS_MAX] = {NULL, "serve", "--port", "0", "--db", p->db};
    va_list list;
    *p = (struct process){0};
    make_folder(p);
    va_start(list, p);
    collect(arguments, 6, list);
    va_end(list);
    spawn(p, handed_over >= 0 ? "LISTEN_FDS=1" : NULL, arguments);
    for (double limit = process_now() + 10; p->port == 0 && process_now() < limit && !process_wait(p, 0); nap()) {
        char *out = process_out(p), *colon = strstr(out, "http://127.0.0.1:");
        if (colon != NULL && strchr(out, '\n') != NULL)
            p->port = (int)strtol(colon + strlen("http://127.0.0.1:"), NULL, 10);
        free(out);
    }
    char *log = process_log(p);
    cr_assert(p->port > 0, "%s does not serve: %s", binary(), log);
    free(log);
}

void process_start_beside(struct process *p, const struct process *other, ...)
{
    char *arguments[ARGUMENTS_MAX] = {NULL, "serve", "--port", "0", "--db", p->db};
    va_list list;
    *p = (struct process){0};
    memcpy(p->folder, other->folder, sizeof p->folder);
    name_files(p, "-beside");
    va_start(list, other);
    collect(arguments, 6, list);
    va_end(list);
    spawn(p, NULL, arguments);
}

void process_run(struct process *p, const char *environment, ...)
{
    char *arguments[ARGUMENTS_MAX] = {NULL};
    va_list list;
    if (p->folder[0] == '\0')
        make_folder(p);
    name_files(p, "-run");
    va_start(list, environment);
    collect(arguments, 1, list);
    va_end(list);
    spawn(p, environment, arguments);
    cr_assert(process_wait(p, 20), "the command does not end");
}

void process_signal(const struct process *p, int signal)
{
    cr_assert(kill(p->pid, signal) == 0);
}

bool process_wait(struct process *p, double seconds)
{
    int raw = 0;
    for (double limit = process_now() + seconds;; nap()) {
        if (p->pid == 0)
            return true;
        if (waitpid(p->pid, &raw, WNOHANG) == p->pid) {
            p->pid = 0;
            p->status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
            return true;
        }
        if (process_now() >= limit)
            return false;
    }
}

void process_remove(struct process *p)
{
    char command[128];
    if (p->pid > 0) {
        kill(p->pid, SIGKILL);
        process_wait(p, 5);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", p->folder);
    cr_assert(system(command) == 0);
}

void process_stop(struct process *p)
{
    process_signal(p, SIGTERM);
    bool ended = process_wait(p, 15);
    char *log = process_log(p);
    cr_assert(ended, "the server does not stop:\n%s", log);
    cr_assert(p->status == 0, "the server leaves with %d:\n%s", p->status, log);
    free(log);
    process_remove(p);
}
