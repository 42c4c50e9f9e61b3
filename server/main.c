/* main.c — the one binary's door: which sub-command is meant, and with which settings. */
#include <stdio.h>
#include <string.h>

#include "server/command.h"

extern char **environ;

static int usage(FILE *to, int status)
{
    fputs("suanpan: capacity plans and quotations for rented GPU compute\n\n"
          "  suanpan serve                      the service, on 127.0.0.1:8080 unless told otherwise\n"
          "  suanpan plan FILE.json             ranked options for a workload, as a table (- = standard input)\n"
          "       --json                        the API's answer instead\n"
          "       --lang zh-CN|en               the language of the table\n"
          "  suanpan check                      integrity, foreign keys and schema of the database\n"
          "  suanpan backup FILE                a checked copy, also while the service runs\n"
          "  suanpan version | help\n\n"
          "Settings, for every sub-command (default in brackets):\n",
          to);
    config_help(to);
    return status;
}

/* Takes --json and --lang out of the arguments; what is left are settings and file names. -1: usage. */
static int take_plan_flags(int *argc, char **argv, struct plan_arguments *ret)
{
    int kept = 0;
    for (int i = 0; i < *argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            ret->json = true;
        } else if (strcmp(argv[i], "--lang") == 0 || strncmp(argv[i], "--lang=", 7) == 0) {
            if (argv[i][6] != '=' && i + 1 == *argc)
                return -1;
            ret->language = argv[i][6] == '=' ? argv[i] + 7 : argv[++i];
            if (strcmp(ret->language, "zh-CN") != 0 && strcmp(ret->language, "en") != 0)
                return -1;
        } else {
            argv[kept++] = argv[i];
        }
    }
    *argc = kept;
    return 0;
}

static int dispatch(const char *command, int argc, char **argv)
{
    struct config config;
    struct plan_arguments plan = {0};
    struct err err = {0};
    int rest = 0;
    if (strcmp(command, "plan") == 0 && take_plan_flags(&argc, argv, &plan) != 0)
        return usage(stderr, 2);
    if (config_read(&config, environ, argc, argv, &rest, &err) != 0) {
        fprintf(stderr, "suanpan: %s %s\n", err.pointer, err.detail);
        return 2;
    }
    if (config.print_config) {
        config_print(&config, stdout);
        return 0;
    }
    plan.file = argv[0];
    if (strcmp(command, "serve") == 0 && rest == 0)
        return command_serve(&config);
    if (strcmp(command, "plan") == 0 && rest == 1)
        return command_plan(&config, &plan);
    if (strcmp(command, "check") == 0 && rest == 0)
        return command_check(&config);
    if (strcmp(command, "backup") == 0 && rest == 1)
        return command_backup(&config, argv[0]);
    return usage(stderr, 2);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return usage(stderr, 2);
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0)
        return usage(stdout, 0);
    if (strcmp(argv[1], "version") == 0 || strcmp(argv[1], "--version") == 0)
        return command_version();
    return dispatch(argv[1], argc - 2, argv + 2);
}
