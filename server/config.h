/* config.h — every setting of the process, in one table: environment SUANPAN_NAME first, then flag --name.
 *
 * An unknown SUANPAN_ variable, an unknown flag or a value out of bounds is refused, never ignored.
 */
#ifndef SUANPAN_SERVER_CONFIG_H
#define SUANPAN_SERVER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

#define CONFIG_TEXT_MAX 512

struct config {
    char host[CONFIG_TEXT_MAX];
    char db[CONFIG_TEXT_MAX];
    char log_level[CONFIG_TEXT_MAX];
    int64_t port; /* 0 = any free one; the bound one is printed */
    int64_t backlog;
    int64_t max_connections, max_connections_per_ip; /* per_ip 0 = off, for behind a proxy */
    int64_t max_in_flight;                           /* jobs on the worker pool, waiting ones included */
    int64_t workers;                                 /* 0 = one per core, two at least */
    int64_t idle_timeout_s;
    int64_t request_deadline_ms; /* head and body must be in */
    int64_t write_deadline_ms;   /* the response must be out */
    int64_t drain_grace_ms;      /* SIGTERM: not ready, still serving */
    int64_t drain_limit_ms;      /* then: at most this long for what is in flight */
    int64_t catalog_poll_ms;
    int64_t request_memory_kib;
    int64_t quick_check_max_mib;
    bool print_config;
};

/* Defaults, then `environment` ("NAME=value" strings, NULL-terminated), then argv[0..argc). Arguments that are no
 * flags are moved to the front of argv, in order; *ret_rest is their number. ERR_INVALID or ERR_RANGE, with the name.
 */
int config_read(struct config *config, char *const *environment, int argc, char **argv, int *ret_rest, struct err *err);

/* "name = value  # bounds: meaning", one a line; what config_read made of it all. */
void config_print(const struct config *config, FILE *to);
/* The table for `suanpan help`: flag, variable, default, bounds, meaning. */
void config_help(FILE *to);

#endif
