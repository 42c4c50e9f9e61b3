/* accuracy.c — scores the service against published measurements, through the same door as a caller.
 *
 *   accuracy [--by source|gpu|model|method] [--worst N] [--suite NAME] [--floors FILE] CASES_DIR
 *
 * Every line of CASES_DIR/SUITE.jsonl is a request for POST /api/v1/estimates and the measured truth. The error of a
 * case is exp(|ln(predicted / truth)|) - 1, so 2x too high and 2x too low weigh the same; a case without an answer
 * counts as an error without bound. With --floors, exit 1 when a suite is worse than its recorded floor.
 */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "planner/offers/engine.h"
#include "tests/support/test_catalog.h"

#define NEVER 99.0
#define METRICS_MAX 4

static const struct metric {
    const char *suite, *name, *path, *low, *high;
} metrics[] = {
    {"train-throughput", "tokens_per_s_per_gpu", "training.tokens_per_s_per_gpu", "training.tokens_per_s_per_gpu_low",
     "training.tokens_per_s_per_gpu_high"},
    {"train-scaling", "tokens_per_s_per_gpu", "training.tokens_per_s_per_gpu", "training.tokens_per_s_per_gpu_low",
     "training.tokens_per_s_per_gpu_high"},
    {"train-scaling-hard", "tokens_per_s_per_gpu", "training.tokens_per_s_per_gpu", "training.tokens_per_s_per_gpu_low",
     "training.tokens_per_s_per_gpu_high"},
    {"train-memory", "total_gb", "memory.total_gb", "memory.low_gb", "memory.high_gb"},
    {"train-whole-run", "gpu_hours", "training.gpu_hours", NULL, NULL},
    {"serve-throughput", "output_tokens_per_s", "serving.output_tokens_per_s", "serving.output_tokens_per_s_low",
     "serving.output_tokens_per_s_high"},
    {"serve-single-stream", "output_tokens_per_s", "serving.output_tokens_per_s", "serving.output_tokens_per_s_low",
     "serving.output_tokens_per_s_high"},
    {"serve-latency", "tpot_ms", "serving.tpot_ms", NULL, NULL},
    {"serve-memory", "weights_gb", "serving.weights_gb", NULL, NULL},
    {"serve-memory", "kv_cache_gb", "serving.kv_cache_gb", NULL, NULL},
    {"serve-memory", "kv_cache_tokens", "serving.kv_cache_tokens", NULL, NULL},
    {"serve-memory", "max_concurrency", "serving.max_concurrency", NULL, NULL},
    {"serve-fits", "fits", "fits", NULL, NULL},
};
static const char *const suites[] = {
    "train-throughput", "train-memory",        "train-scaling", "train-scaling-hard", "train-whole-run",
    "serve-throughput", "serve-single-stream", "serve-latency", "serve-memory",       "serve-fits"};

struct row {
    char source[120], key[120], id[80];
    char metric[40];
    double predicted, truth, error, ln;
    int inside; /* -1: no interval */
    bool tight;
};

struct rows {
    struct row *items;
    size_t n, cap;
};

struct score {
    size_t n, unanswered;
    double median, p90, source_mean, bias, coverage, right, tight;
};

static json_t *dig(json_t *answer, const char *path)
{
    char part[80];
    while (answer && *path) {
        size_t len = strcspn(path, ".");
        snprintf(part, sizeof part, "%.*s", (int)len, path);
        answer = json_object_get(answer, part);
        path += len + (path[len] == '.');
    }
    return answer;
}

static double dig_number(json_t *answer, const char *path)
{
    json_t *v = path ? dig(answer, path) : NULL;
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static json_t *ask(const struct catalog *catalog, json_t *request)
{
    char *body = json_dumps(request, JSON_REAL_PRECISION(15));
    struct arena *arena = arena_new((size_t)16 << 20);
    struct api_request q = {.method = "POST",
                            .path = "/api/v1/estimates",
                            .content_type = "application/json",
                            .request_id = "accuracy",
                            .body = body,
                            .body_len = strlen(body),
                            .catalog = catalog,
                            .today = date_from_civil(2026, 11, 30),
                            .arena = arena};
    struct api_response res = {0};
    api_handle(&q, &res);
    json_t *answer = res.status == 200 ? json_loadb(res.body, res.body_len, 0, NULL) : NULL;
    api_response_done(&res);
    arena_free(arena);
    free(body);
    return answer;
}

static const char *group_key(json_t *c, const char *by, char out[120])
{
    json_t *w = dig(c, "request.workload"), *hw = dig(c, "request.hardware");
    json_t *v = !strcmp(by, "gpu")     ? json_object_get(hw, "gpu")
                : !strcmp(by, "model") ? dig(w, "model.preset")
                : !strcmp(by, "method")
                    ? (dig(w, "training.method") ? dig(w, "training.method") : dig(w, "serving.engine"))
                    : json_object_get(c, "source");
    if (json_is_string(v))
        snprintf(out, 120, "%.119s", json_string_value(v));
    else
        snprintf(out, 120, "%.3gB", dig_number(w, "model.params_b"));
    return out;
}

static void score_case(const char *suite, json_t *c, json_t *answer, const char *by, struct rows *rows)
{
    for (size_t m = 0; m < sizeof metrics / sizeof *metrics; m++) {
        json_t *truth = json_object_get(json_object_get(c, "truth"), metrics[m].name);
        if (strcmp(metrics[m].suite, suite) != 0 || !truth)
            continue;
        if (rows->n == rows->cap)
            rows->items = realloc(rows->items, (rows->cap = rows->cap * 2 + 64) * sizeof *rows->items);
        struct row *r = &rows->items[rows->n++];
        *r = (struct row){.inside = -1, .ln = NAN, .error = NEVER, .predicted = NAN};
        snprintf(r->id, sizeof r->id, "%.79s", json_string_value(json_object_get(c, "id")));
        snprintf(r->source, sizeof r->source, "%.119s", json_string_value(json_object_get(c, "source")));
        snprintf(r->metric, sizeof r->metric, "%s", metrics[m].name);
        group_key(c, by ? by : "source", r->key);
        if (json_is_string(truth)) {
            const char *v = answer ? json_string_value(dig(answer, metrics[m].path)) : NULL;
            r->tight = v && !strcmp(v, "tight");
            r->error = v && (r->tight || !strcmp(v, json_string_value(truth))) ? 0 : NEVER;
            continue;
        }
        r->truth = json_number_value(truth);
        r->predicted = answer ? dig_number(answer, metrics[m].path) : NAN;
        if (!(r->predicted > 0) || !isfinite(r->predicted))
            continue;
        r->ln = log(r->predicted / r->truth);
        r->error = exp(fabs(r->ln)) - 1;
        double low = dig_number(answer, metrics[m].low), high = dig_number(answer, metrics[m].high);
        if (isfinite(low) && isfinite(high))
            r->inside = low <= r->truth && r->truth <= high;
    }
}

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *v, size_t n, double q)
{
    if (n == 0)
        return NAN;
    qsort(v, n, sizeof *v, by_double);
    size_t i = (size_t)(q * (double)n);
    return v[i < n ? i : n - 1];
}

/* Median error of the rows whose `key` (or source) is `name`; NAN below `least` rows. */
static double group_median(const struct rows *rows, const char *name, bool by_key, size_t least, size_t *ret_n)
{
    double *v = malloc((rows->n + 1) * sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++)
        if (!strcmp(by_key ? rows->items[i].key : rows->items[i].source, name))
            v[n++] = rows->items[i].error;
    double median = n >= least ? quantile(v, n, 0.5) : NAN;
    free(v);
    if (ret_n)
        *ret_n = n;
    return median;
}

static bool first_of(const struct rows *rows, size_t i, bool by_key)
{
    for (size_t j = 0; j < i; j++)
        if (!strcmp(by_key ? rows->items[j].key : rows->items[j].source,
                    by_key ? rows->items[i].key : rows->items[i].source))
            return false;
    return true;
}

static double source_mean(const struct rows *rows)
{
    double sum[2] = {0, 0};
    size_t n[2] = {0, 0};
    for (size_t i = 0; i < rows->n; i++) {
        if (!first_of(rows, i, false))
            continue;
        for (int all = 0; all < 2; all++) {
            double m = group_median(rows, rows->items[i].source, false, all ? 1 : 3, NULL);
            if (!isnan(m)) {
                sum[all] += m;
                n[all]++;
            }
        }
    }
    int use = n[0] ? 0 : 1;
    return n[use] ? sum[use] / (double)n[use] : NAN;
}

static struct score score_rows(const struct rows *rows)
{
    struct score s = {.n = rows->n};
    double *e = malloc((rows->n + 1) * sizeof *e), *ln = malloc((rows->n + 1) * sizeof *ln);
    size_t n_ln = 0, inside = 0, known = 0, right = 0, tight = 0;
    for (size_t i = 0; i < rows->n; i++) {
        const struct row *r = &rows->items[i];
        e[i] = r->error;
        s.unanswered += r->error >= NEVER;
        right += r->error < NEVER;
        tight += r->tight;
        if (!isnan(r->ln))
            ln[n_ln++] = r->ln;
        if (r->inside >= 0) {
            known++;
            inside += (size_t)r->inside;
        }
    }
    s.median = quantile(e, rows->n, 0.5);
    s.p90 = quantile(e, rows->n, 0.9);
    s.bias = exp(quantile(ln, n_ln, 0.5));
    s.coverage = known ? (double)inside / (double)known : NAN;
    s.right = rows->n ? (double)right / (double)rows->n : NAN;
    s.tight = rows->n ? (double)tight / (double)rows->n : NAN;
    s.source_mean = source_mean(rows);
    free(e);
    free(ln);
    return s;
}

static void print_groups(const struct rows *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        size_t n;
        if (!first_of(rows, i, true))
            continue;
        double m = group_median(rows, rows->items[i].key, true, 1, &n);
        printf("    %-58.58s n=%4zu  median %7.1f%%\n", rows->items[i].key, n, 100 * m);
    }
}

static int by_error(const void *a, const void *b)
{
    double x = ((const struct row *)a)->error, y = ((const struct row *)b)->error;
    return (x < y) - (x > y);
}

static void print_score(const char *suite, const struct score *s)
{
    if (!strcmp(suite, "serve-fits"))
        printf("%-20s n=%5zu  right %.1f %%  tight %.1f %%\n", suite, s->n, 100 * s->right, 100 * s->tight);
    else
        printf("%-20s n=%5zu  unanswered %4zu  median %6.1f%%  p90 %6.1f%%  source mean %6.1f%%  bias %.2f  inside "
               "%3.0f%%\n",
               suite, s->n, s->unanswered, 100 * s->median, 100 * s->p90, 100 * s->source_mean, s->bias,
               100 * s->coverage);
}

/* A suite's floor: {"median": 0.08, "p90": 0.3, "source_mean": 0.12, "inside_low": .., "inside_high": .., "right": ..,
 * "tight": ..}; 0 when every stated figure holds. */
static int check_floor(const char *suite, const struct score *s, json_t *floors)
{
    json_t *f = json_object_get(floors, suite);
    const struct {
        const char *name;
        double value;
        bool at_least;
    } checks[] = {{"median", s->median, false},
                  {"p90", s->p90, false},
                  {"source_mean", s->source_mean, false},
                  {"inside_low", s->coverage, true},
                  {"inside_high", s->coverage, false},
                  {"right", s->right, true},
                  {"tight", s->tight, false},
                  {"unanswered", (double)s->unanswered, false}};
    int bad = 0, stated = 0;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        json_t *limit = json_object_get(f, checks[i].name);
        if (!json_is_number(limit))
            continue;
        stated++;
        double l = json_number_value(limit);
        if (checks[i].at_least ? !(checks[i].value >= l) : !(checks[i].value <= l)) {
            printf("    FAILS its floor: %s %s is %.4f, recorded floor %.4f\n", suite, checks[i].name, checks[i].value,
                   l);
            bad = 1;
        }
    }
    if (stated == 0 || stated < (int)json_object_size(f)) { /* a misspelt figure would hold whatever happens */
        printf("    no floor, or an unknown figure, is recorded for %s\n", suite);
        bad = 1;
    }
    return bad;
}

static int run_suite(const struct catalog *catalog, const char *dir, const char *suite, const char *by, int worst,
                     json_t *floors)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.jsonl", dir, suite);
    FILE *f = fopen(path, "r");
    if (!f) {
        fprintf(stderr, "%s: %s\n", path, strerrorname_np(errno));
        return 1;
    }
    struct rows rows = {0};
    char *line = NULL;
    size_t cap = 0;
    while (getline(&line, &cap, f) > 0) {
        json_t *c = json_loads(line, 0, NULL);
        json_t *answer = ask(catalog, json_object_get(c, "request"));
        score_case(suite, c, answer, by, &rows);
        json_decref(answer);
        json_decref(c);
    }
    free(line);
    fclose(f);
    struct score s = score_rows(&rows);
    print_score(suite, &s);
    if (by)
        print_groups(&rows);
    if (worst > 0)
        qsort(rows.items, rows.n, sizeof *rows.items, by_error);
    for (int i = 0; i < worst && (size_t)i < rows.n; i++)
        printf("    %s %s: predicted %g measured %g [%s]\n", rows.items[i].id, rows.items[i].metric,
               rows.items[i].predicted, rows.items[i].truth, rows.items[i].source);
    free(rows.items);
    return floors ? check_floor(suite, &s, floors) : 0;
}

int main(int argc, char **argv)
{
    const char *by = NULL, *only = NULL, *dir = NULL, *floors_path = NULL;
    int worst = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--by") && i + 1 < argc)
            by = argv[++i];
        else if (!strcmp(argv[i], "--worst") && i + 1 < argc)
            worst = (int)strtol(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--suite") && i + 1 < argc)
            only = argv[++i];
        else if (!strcmp(argv[i], "--floors") && i + 1 < argc)
            floors_path = argv[++i];
        else
            dir = argv[i];
    }
    if (!dir) {
        fprintf(stderr,
                "usage: accuracy [--by source|gpu|model|method] [--worst N] [--suite NAME] [--floors FILE] DIR\n");
        return 2;
    }
    json_t *floors = floors_path ? json_load_file(floors_path, 0, NULL) : NULL;
    if (floors_path && !floors) {
        fprintf(stderr, "%s: not readable as JSON\n", floors_path);
        return 2;
    }
    api_init();
    struct catalog *catalog = test_catalog();
    struct err err;
    if (engine_bind(catalog, &err) != 0) {
        fprintf(stderr, "%s %s\n", err.detail, err.pointer);
        return 2;
    }
    int held = 0, below = 0;
    for (size_t s = 0; s < sizeof suites / sizeof *suites; s++) {
        if (only && strcmp(only, suites[s]) != 0)
            continue;
        if (run_suite(catalog, dir, suites[s], by, worst, floors))
            below++;
        else
            held++;
    }
    json_decref(floors);
    if (floors_path)
        printf("accuracy: %d passed, %d failed\n", held, below);
    return below > 0;
}
