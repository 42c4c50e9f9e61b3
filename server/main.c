/* main.c — the one binary's door: which sub-command is meant, and nothing else. */
#include <stdio.h>
#include <string.h>

static int usage(FILE *to, int status)
{
    fputs("suanpan: capacity plans and quotations for rented GPU compute\n"
          "\n"
          "  suanpan help              this text\n",
          to);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return usage(stderr, 2);
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0)
        return usage(stdout, 0);
    fprintf(stderr, "suanpan: unknown command; see suanpan help\n");
    return 2;
}
