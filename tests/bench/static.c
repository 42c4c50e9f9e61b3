/* static.c — the same server with other files: bodies of the sizes named on the command line, so that a plan is
 * measured beside a static answer of equal size. Usage: bench_static DB SIZE... ; files are /body-0, /body-1, ... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "server/command.h"

#define BODIES_MAX 8

static struct embed_file bodies[BODIES_MAX];
static char names[BODIES_MAX][16];
/* Takes the place of the form's files; the count is filled by main before anything looks. */
extern const struct embed_table embed_static;
const struct embed_table embed_static = {bodies, BODIES_MAX};

int main(int argc, char **argv)
{
    char port[] = "--port", any[] = "0", db[] = "--db", level[] = "--log-level", warn[] = "warn";
    char *none[] = {NULL};
    char *arguments[] = {port, any, db, argc > 1 ? argv[1] : any, level, warn};
    struct config config;
    struct err err = {0};
    int rest = 0;
    if (argc < 3 || argc > 2 + BODIES_MAX || config_read(&config, none, 6, arguments, &rest, &err) != 0) {
        fprintf(stderr, "usage: bench_static DB SIZE... (%s)\n", err.detail);
        return 2;
    }
    for (int i = 0; i < BODIES_MAX; i++) {
        size_t size = i + 2 < argc ? strtoul(argv[i + 2], NULL, 10) : 1;
        unsigned char *data = malloc(size + 1);
        if (data == NULL)
            return 1;
        memset(data, 'x', size + 1);
        snprintf(names[i], sizeof names[i], "body-%d", i);
        bodies[i] = (struct embed_file){.name = names[i], .data = data, .size = size};
    }
    return command_serve(&config);
}
