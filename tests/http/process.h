/* process.h — the real binary as a child process on a free port, with a database of its own in a temporary folder. */
#ifndef SUANPAN_TESTS_HTTP_PROCESS_H
#define SUANPAN_TESTS_HTTP_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

struct process {
    pid_t pid;
    int port;
    char folder[64], db[96], log[96], out[96];
    int status; /* exit status once it has gone; 128 + signal when killed */
};

/* Starts `suanpan serve --port 0 --db ...` with further arguments (NULL-terminated list after p) and waits for its
 * address. Fails the test when there is none within ten seconds. */
void process_start(struct process *p, ...);
/* The next process_start hands this listening socket over as descriptor 3, in systemd's way. */
void process_hand_over(int listening_fd);
/* As process_start, on the folder and database of an earlier one, without waiting for an address. */
void process_start_beside(struct process *p, const struct process *other, ...);
/* Any sub-command with any environment addition ("NAME=value" or NULL); waits for its end. */
void process_run(struct process *p, const char *environment, ...);

void process_signal(const struct process *p, int signal);
/* Waits up to `seconds`; true when it ended. */
bool process_wait(struct process *p, double seconds);
/* SIGTERM, waits, demands exit status 0, removes the folder. */
void process_stop(struct process *p);
void process_remove(struct process *p);

double process_now(void); /* monotonic seconds */

/* The whole log (stderr) or output (stdout) so far; free it. */
char *process_log(const struct process *p);
char *process_out(const struct process *p);

#endif
