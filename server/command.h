/* command.h — the sub-commands of the one binary. Each returns the exit status: 0 done, 1 refused or failed, 2 wrong
 * usage.
 */
#ifndef SUANPAN_SERVER_COMMAND_H
#define SUANPAN_SERVER_COMMAND_H

#include "server/config.h"

int command_serve(const struct config *config);

struct plan_arguments {
    const char *file;     /* "-" = standard input */
    bool json;            /* the API's answer instead of a table */
    const char *language; /* "zh-CN", "en" or NULL = the request's own */
};
int command_plan(const struct config *config, const struct plan_arguments *arguments);

int command_check(const struct config *config);
int command_backup(const struct config *config, const char *to);
int command_version(void);

#endif
