/* command_serve.c — `suanpan serve`. */
#include "base/arena.h"
#include "server/command.h"
#include "server/log.h"
#include "server/srv.h"

int command_serve(const struct config *config)
{
    struct err err = {0};
    enum log_level level = LOG_INFO;
    if (log_level_parse(config->log_level, &level) == 0)
        log_set_level(level);
    arena_keep_pages();
    api_init();
    if (srv_run(config, &err) == 0)
        return 0;
    struct log_line l;
    log_start(&l, LOG_ERROR, "not_started");
    log_text(&l, "code", err_name(err.code));
    log_text(&l, "at", err.pointer[0] != '\0' ? err.pointer : NULL);
    log_text(&l, "err", err.detail);
    log_end(&l);
    return 1;
}
