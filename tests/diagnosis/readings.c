/* readings.c — loading samples and their index. */
#include "tests/diagnosis/readings.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *slurp(const char *path, size_t *ret_size)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    size_t cap = 1 << 16, n = 0;
    char *text = malloc(cap + 1);
    for (size_t got; (got = fread(text + n, 1, cap - n, f)) > 0;) {
        n += got;
        if (n == cap)
            text = realloc(text, (cap *= 2) + 1);
    }
    fclose(f);
    text[n] = '\0';
    *ret_size = n;
    return text;
}

static const char *const KINDS_READ[] = {"smi", "query_csv", "dmon", "topo", "train_log"};

static bool is_reading(const char *kind)
{
    for (size_t i = 0; i < sizeof KINDS_READ / sizeof *KINDS_READ; i++)
        if (strcmp(kind, KINDS_READ[i]) == 0)
            return true;
    return false;
}

struct readings readings_load(const char *folder)
{
    struct readings r = {0};
    char path[1024];
    size_t size;
    snprintf(path, sizeof path, "%s/index.jsonl", folder);
    char *index = slurp(path, &size);
    if (index == NULL)
        return r;
    r.items = calloc(2000, sizeof *r.items);
    for (char *line = index, *end; *line != '\0' && r.n < 2000; line = end) {
        end = line + strcspn(line, "\n");
        json_t *row = json_loadb(line, (size_t)(end - line), 0, NULL);
        end += *end == '\n';
        const char *kind = json_string_value(json_object_get(row, "kind"));
        if (row == NULL || kind == NULL || !is_reading(kind)) {
            json_decref(row);
            continue;
        }
        const char *source = json_string_value(json_object_get(row, "source"));
        cr_assert(source != NULL && *source != '\0', "%.*s: a sample says where it comes from", (int)(end - line),
                  line);
        struct reading *item = &r.items[r.n++];
        item->file = strdup(json_string_value(json_object_get(row, "file")));
        item->kind = strdup(kind);
        item->expect = json_incref(json_object_get(row, "expect"));
        snprintf(path, sizeof path, "%s/%s", folder, item->file);
        item->text = slurp(path, &item->size);
        cr_assert_not_null(item->text, "%s", path);
        json_decref(row);
    }
    free(index);
    return r;
}

void readings_free(struct readings *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free(r->items[i].file);
        free(r->items[i].kind);
        free(r->items[i].text);
        json_decref(r->items[i].expect);
    }
    free(r->items);
    *r = (struct readings){0};
}

const char *readings_outside(void)
{
    static char folder[1024];
    const char *shared = getenv("SUANPAN_SHARED");
    snprintf(folder, sizeof folder, "%s/data/inputs", shared != NULL ? shared : "../shared");
    return access(folder, R_OK) == 0 ? folder : NULL;
}

struct diagnosis_input reading_input(const struct reading *r, const char *text)
{
    struct diagnosis_input in = {0};
    if (strcmp(r->kind, "smi") == 0)
        in.nvidia_smi = text;
    else if (strcmp(r->kind, "query_csv") == 0)
        in.nvidia_smi_csv = text;
    else if (strcmp(r->kind, "dmon") == 0)
        in.dmon = text;
    else if (strcmp(r->kind, "topo") == 0)
        in.topo = text;
    else
        in.training_log = text;
    return in;
}
