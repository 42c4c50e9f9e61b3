/* cases.c — see cases.h. */
#include "tests/fit/cases.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/offers/engine.h"

const char *const suite_names[SUITES] = {"train-throughput", "train-scaling",    "train-scaling-hard",
                                         "train-memory",     "serve-throughput", "serve-single-stream",
                                         "serve-latency"};

static const char *const truths[SUITES] = {"tokens_per_s_per_gpu",
                                           "tokens_per_s_per_gpu",
                                           "tokens_per_s_per_gpu",
                                           "total_gb",
                                           "output_tokens_per_s",
                                           "output_tokens_per_s",
                                           "tpot_ms"};

/* ln 20 */
static const double UNANSWERED = 3;

enum { ESTIMATE_BYTES = 64 << 20 };

static void refuse(const char *file, const char *id, const char *why)
{
    fprintf(stderr, "fit: %s: %s: %s\n", file, id, why);
    exit(1);
}

static int source_of(struct cases *c, const char *name)
{
    for (size_t i = 0; i < c->n_sources; i++)
        if (strcmp(c->sources[i], name) == 0)
            return (int)i;
    if (c->n_sources == SOURCES_MAX)
        refuse(name, "", "more sources than this tool holds");
    c->sources[c->n_sources] = arena_strdup(c->arena, name);
    return (int)c->n_sources++;
}

static const struct decoded_estimate *decoded(struct cases *c, const struct catalog *catalog, const char *file,
                                              const char *id, json_t *request)
{
    struct decode d;
    struct err err = {0};
    struct fault_list *faults = arena_alloc(c->arena, sizeof *faults);
    struct decoded_estimate *ret = arena_alloc(c->arena, sizeof *ret);
    char *bytes = json_dumps(request, JSON_REAL_PRECISION(15));
    decode_init(&d, catalog, c->arena, LANG_EN, date_from_civil(2026, 11, 30), faults);
    if (bytes == NULL || decode_estimate_request(&d, bytes, strlen(bytes), ret, &err) != 0)
        refuse(file, id, faults->n > 0 ? faults->items[0].pointer : err.detail);
    free(bytes);
    return ret;
}

static void add(struct cases *c, const struct catalog *catalog, const char *file, int suite, json_t *line)
{
    const char *id = json_string_value(json_object_get(line, "id"));
    const char *source = json_string_value(json_object_get(line, "source"));
    json_t *truth = json_object_get(json_object_get(line, "truth"), truths[suite]);
    if (id == NULL || source == NULL || !json_is_number(truth))
        refuse(file, id != NULL ? id : "?", "no id, source or truth");
    if ((c->n & (c->n - 1)) == 0) /* at every power of two, the room for as many again */
        c->items = realloc(c->items, (c->n > 0 ? 2 * c->n : 1) * sizeof *c->items);
    struct observation *o = &c->items[c->n++];
    *o = (struct observation){.suite = suite, .source = source_of(c, source), .truth = json_number_value(truth)};
    o->request = decoded(c, catalog, file, id, json_object_get(line, "request"));
    c->per_source[suite][o->source]++;
}

void cases_load(struct cases *c, const struct catalog *catalog, const char *dir, unsigned suites)
{
    char file[512];
    for (int s = 0; s < SUITES; s++) {
        snprintf(file, sizeof file, "%s/%s.jsonl", dir, suite_names[s]);
        FILE *f = suites & 1u << s ? fopen(file, "rb") : NULL;
        char *line = NULL;
        size_t room = 0;
        json_error_t why;
        while (f != NULL && getline(&line, &room, f) > 0) {
            json_t *root = json_loads(line, 0, &why);
            if (root == NULL)
                refuse(file, "?", why.text);
            add(c, catalog, file, s, root);
            json_decref(root);
        }
        free(line);
        if (f != NULL)
            fclose(f);
    }
}

static double predicted(int suite, const struct estimate *e, double *ret_low, double *ret_high)
{
    const struct serving_estimate *s = &e->serving;
    const struct training_estimate *t = &e->training;
    *ret_low = *ret_high = NAN;
    if (strcmp(truths[suite], "total_gb") == 0) {
        *ret_low = e->memory.low_gb;
        *ret_high = e->memory.high_gb;
        return e->memory.total_gb;
    }
    if (strcmp(truths[suite], "tokens_per_s_per_gpu") == 0) {
        *ret_low = t->tokens_per_s_per_gpu_low;
        *ret_high = t->tokens_per_s_per_gpu_high;
        return e->has_training ? t->tokens_per_s_per_gpu : NAN;
    }
    if (strcmp(truths[suite], "tpot_ms") == 0)
        return e->has_serving ? s->tpot_ms : NAN;
    *ret_low = s->output_tokens_per_s_low;
    *ret_high = s->output_tokens_per_s_high;
    return e->has_serving ? s->output_tokens_per_s : NAN;
}

double case_residual(const struct observation *o, const struct catalog *catalog, int *ret_inside)
{
    const struct estimate_request q = {.catalog = catalog,
                                       .workload = &o->request->workload,
                                       .shape = &o->request->shape,
                                       .layout = o->request->has_layout ? &o->request->layout : NULL,
                                       .at = &o->request->at};
    struct arena *arena = arena_new(ESTIMATE_BYTES);
    struct estimate e = {0};
    struct err err = {0};
    double low = NAN, high = NAN;
    double value = engine_estimate(&q, arena, &e, &err) == 0 ? predicted(o->suite, &e, &low, &high) : NAN;
    arena_free(arena);
    if (ret_inside != NULL)
        *ret_inside = isfinite(low) && isfinite(high) ? low <= o->truth && o->truth <= high : -1;
    return value > 0 && isfinite(value) ? log(value / o->truth) : UNANSWERED;
}
