/* config.c — the table of settings, and the only code that reads environment variables and flags. */
#include "server/config.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "server/log.h"

enum kind { TEXT, NUMBER, SWITCH };

static const struct setting {
    const char *name; /* flag --name, variable SUANPAN_NAME */
    enum kind kind;
    size_t offset;
    int64_t min, max;
    const char *fallback;
    const char *help;
} table[] = {
#define AT(member) offsetof(struct config, member)
    {"host", TEXT, AT(host), 0, 0, "127.0.0.1", "address to listen on; there are no keys yet, so keep it on loopback"},
    {"port", NUMBER, AT(port), 0, 65535, "8080", "0 takes any free port and prints it"},
    {"db", TEXT, AT(db), 0, 0, "suanpan.db", "database file, created at the first start"},
    {"log-level", TEXT, AT(log_level), 0, 0, "info", "debug, info, warn or error"},
    {"backlog", NUMBER, AT(backlog), 1, 65535, "511", "connections the kernel may queue"},
    {"max-connections", NUMBER, AT(max_connections), 1, 100000, "2000", "open connections"},
    {"max-connections-per-ip", NUMBER, AT(max_connections_per_ip), 0, 100000, "200",
     "0 = no limit, for behind a proxy"},
    {"max-in-flight", NUMBER, AT(max_in_flight), 1, 10000, "64",
     "requests being worked on; above, 503 with Retry-After"},
    {"workers", NUMBER, AT(workers), 0, 256, "0", "planning threads; 0 = one per core"},
    {"idle-timeout-s", NUMBER, AT(idle_timeout_s), 1, 3600, "15", "silent connections are closed"},
    {"request-deadline-ms", NUMBER, AT(request_deadline_ms), 100, 600000, "10000", "head and body must be in by then"},
    {"write-deadline-ms", NUMBER, AT(write_deadline_ms), 100, 600000, "30000", "the response must be out by then"},
    {"drain-grace-ms", NUMBER, AT(drain_grace_ms), 0, 600000, "0", "after SIGTERM: not ready, still serving"},
    {"drain-limit-ms", NUMBER, AT(drain_limit_ms), 100, 600000, "10000",
     "then at most this long for what is in flight"},
    {"catalog-poll-ms", NUMBER, AT(catalog_poll_ms), 50, 3600000, "2000", "how often the stored revision is looked at"},
    {"request-memory-kib", NUMBER, AT(request_memory_kib), 256, 4194304, "65536", "memory one request may use"},
    {"quick-check-max-mib", NUMBER, AT(quick_check_max_mib), 0, 1048576, "256",
     "larger databases skip the check at start"},
    {"print-config", SWITCH, AT(print_config), 0, 1, "0", "print the settings in force and exit"},
#undef AT
};

#define N_SETTINGS (sizeof table / sizeof *table)

static int store(struct config *config, const struct setting *s, const char *value, const char *origin, struct err *err)
{
    char *field = (char *)config + s->offset, *end = NULL;
    if (s->kind == TEXT) {
        size_t n = strlen(value);
        if (n == 0 || n >= CONFIG_TEXT_MAX)
            return err_at(err, ERR_RANGE, origin, "needs 1 to %d bytes", CONFIG_TEXT_MAX - 1);
        memcpy(field, value, n + 1);
        return 0;
    }
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (end == value || *end != '\0' || isspace((unsigned char)value[0]))
        return err_at(err, ERR_INVALID, origin, "needs a whole number");
    if (errno != 0 || number < s->min || number > s->max)
        return err_at(err, ERR_RANGE, origin, "needs a number from %lld to %lld", (long long)s->min, (long long)s->max);
    if (s->kind == SWITCH) {
        bool on = number != 0;
        memcpy(field, &on, sizeof on);
    } else {
        int64_t stored = number;
        memcpy(field, &stored, sizeof stored);
    }
    return 0;
}

/* "SUANPAN_MAX_IN_FLIGHT" names the setting "max-in-flight". */
static bool variable_names(const char *variable, size_t n, const char *name)
{
    if (strlen(name) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (variable[i] != (name[i] == '-' ? '_' : (char)toupper((unsigned char)name[i])))
            return false;
    return true;
}

static int read_variable(struct config *config, const char *entry, struct err *err)
{
    const char prefix[] = "SUANPAN_";
    size_t skip = sizeof prefix - 1, whole = strcspn(entry, "=");
    char origin[96];
    if (strncmp(entry, prefix, skip) != 0 || entry[whole] != '=')
        return 0;
    snprintf(origin, sizeof origin, "%.*s", (int)whole, entry);
    for (size_t i = 0; i < N_SETTINGS; i++)
        if (variable_names(entry + skip, whole - skip, table[i].name))
            return store(config, &table[i], entry + whole + 1, origin, err);
    return err_at(err, ERR_INVALID, origin, "is no setting of this program");
}

/* "--name value" or "--name=value"; *ret_used = arguments taken. */
static int read_flag(struct config *config, int argc, char **argv, int *ret_used, struct err *err)
{
    const char *flag = argv[0] + 2;
    size_t n = strcspn(flag, "=");
    for (size_t i = 0; i < N_SETTINGS; i++) {
        const struct setting *s = &table[i];
        if (strlen(s->name) != n || strncmp(flag, s->name, n) != 0)
            continue;
        *ret_used = 1;
        if (flag[n] == '=')
            return store(config, s, flag + n + 1, argv[0], err);
        if (s->kind == SWITCH)
            return store(config, s, "1", argv[0], err);
        if (argc < 2)
            return err_at(err, ERR_INVALID, argv[0], "needs a value");
        *ret_used = 2;
        return store(config, s, argv[1], argv[0], err);
    }
    return err_at(err, ERR_INVALID, argv[0], "is no flag of this program");
}

int config_read(struct config *config, char *const *environment, int argc, char **argv, int *ret_rest, struct err *err)
{
    int rest = 0;
    *config = (struct config){0};
    for (size_t i = 0; i < N_SETTINGS; i++)
        if (store(config, &table[i], table[i].fallback, table[i].name, err) != 0)
            return -1;
    for (; *environment != NULL; environment++)
        if (read_variable(config, *environment, err) != 0)
            return -1;
    for (int i = 0; i < argc;) {
        int used = 1;
        if (strncmp(argv[i], "--", 2) == 0) {
            if (read_flag(config, argc - i, argv + i, &used, err) != 0)
                return -1;
        } else {
            argv[rest++] = argv[i];
        }
        i += used;
    }
    *ret_rest = rest;
    enum log_level level;
    return log_level_parse(config->log_level, &level) == 0
               ? 0
               : err_at(err, ERR_INVALID, "log-level", "must be debug, info, warn or error");
}

void config_print(const struct config *config, FILE *to)
{
    for (size_t i = 0; i < N_SETTINGS; i++) {
        const struct setting *s = &table[i];
        const char *field = (const char *)config + s->offset;
        int64_t number = 0;
        if (s->kind == SWITCH)
            continue;
        if (s->kind == NUMBER)
            memcpy(&number, field, sizeof number);
        if (s->kind == TEXT)
            fprintf(to, "%s = %s  # %s\n", s->name, field, s->help);
        else
            fprintf(to, "%s = %lld  # %lld to %lld: %s\n", s->name, (long long)number, (long long)s->min,
                    (long long)s->max, s->help);
    }
}

void config_help(FILE *to)
{
    for (size_t i = 0; i < N_SETTINGS; i++) {
        const struct setting *s = &table[i];
        fprintf(to, "  --%-23s %s%s%s%s\n", s->name, s->help, s->kind == SWITCH ? "" : " (",
                s->kind == SWITCH ? "" : s->fallback, s->kind == SWITCH ? "" : ")");
    }
    fputs("Each is also an environment variable: --max-in-flight is SUANPAN_MAX_IN_FLIGHT. Flags win.\n", to);
}
