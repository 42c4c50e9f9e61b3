/* fit.c — fits the constants of physics to the measured cases, and says what the fit is worth for a source it has not
 * seen.
 *
 *   fit training|serving [--leave-out|--from-priors] [--rounds N] CASES_DIR...
 *
 * The rows of db/seed/calibration_*.csv whose evidence begins with "fit" are moved, in logarithms, inside their bounds;
 * each is pulled weakly to what priors.csv says it was believed to be before any fit, or to where it stands. A source
 * weighs by the root of its cases, so that a large table does not outvote ten small ones. Without --leave-out the new
 * values are printed beside the old; with it every source of the first CASES_DIR is predicted by constants fitted from
 * the priors without it. --from-priors begins the fit of all sources there too. Minutes of every core: not a part of
 * `make check`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/api.h"
#include "planner/serving/serving.h"
#include "planner/training/training.h"
#include "tests/fit/cases.h"
#include "tests/fit/solve.h"
#include "tests/support/test_catalog.h"

enum { CONSTANTS_MAX = 256, ROUNDS = 8 };

static const double PULL = 1e-3;

/* Scaling is what plans extrapolate by; the hard half is held against harm, not fitted to. */
static const double suite_weights[SUITES] = {1, 2.2, 0.2, 1, 1, 1, 1};

static const struct room {
    const char *name, *prefix;
    unsigned suites;
} rooms[] = {{"training", "train.", 0x0f}, {"serving", "serve.", 0x70}};

struct fit {
    const struct room *room;
    struct catalog *catalog;
    struct param *rows; /* ours, all of the catalog's */
    size_t moved[CONSTANTS_MAX], n;
    double now[CONSTANTS_MAX], believed[CONSTANTS_MAX], least[CONSTANTS_MAX], most[CONSTANTS_MAX]; /* logarithms */
    struct cases cases;
    size_t n_scored; /* sources of the first directory */
    double *weights;
    int rounds;
};

static void die(const char *what, const char *detail)
{
    fprintf(stderr, "fit: %s %s\n", what, detail);
    exit(1);
}

static void bind(struct fit *f)
{
    struct err err = {0};
    struct catalog *c = f->catalog;
    if (training_constants_bind(&c->params, (void *)c->training, &err) != 0 ||
        serving_constants_bind(&c->params, (void *)c->serving, &err) != 0)
        die("constants:", err.detail);
}

static void residuals(void *context, const double *parameters, double *ret)
{
    struct fit *f = context;
    for (size_t j = 0; j < f->n; j++)
        f->rows[f->moved[j]].value = exp(parameters[j]);
    bind(f);
    for (size_t i = 0; i < f->cases.n; i++)
        ret[i] = f->weights[i] > 0 ? case_residual(&f->cases.items[i], f->catalog, NULL) : 0;
}

/* Every source but one; -1: every source. */
static void weigh(struct fit *f, int left_out)
{
    double sum = 0;
    for (size_t i = 0; i < f->cases.n; i++) {
        const struct observation *o = &f->cases.items[i];
        f->weights[i] = o->source == left_out
                            ? 0
                            : suite_weights[o->suite] / sqrt((double)f->cases.per_source[o->suite][o->source]);
        sum += f->weights[i];
    }
    for (size_t i = 0; i < f->cases.n; i++)
        f->weights[i] /= sum;
}

static double solve(struct fit *f, int left_out, double *parameters)
{
    weigh(f, left_out);
    const struct least_squares p = {f->cases.n, f->n, f->weights, f->believed, f->least, f->most, PULL, residuals, f};
    return least_squares_solve(&p, f->rounds, parameters);
}

static void read_priors(struct fit *f, const char *file)
{
    char line[512], key[200];
    double value;
    FILE *in = fopen(file, "rb");
    if (in == NULL)
        die(file, "cannot be read");
    while (fgets(line, sizeof line, in) != NULL) {
        if (sscanf(line, "%199[^,],%lf", key, &value) != 2)
            continue;
        size_t j = 0;
        while (j < f->n && strcmp(f->rows[f->moved[j]].key, key) != 0)
            j++;
        if (j < f->n)
            f->believed[j] = fmax(f->least[j], fmin(f->most[j], log(value)));
    }
    fclose(in);
}

static void choose_constants(struct fit *f)
{
    struct param_table *t = &f->catalog->params;
    f->rows = malloc(t->n * sizeof *f->rows);
    memcpy(f->rows, t->rows, t->n * sizeof *f->rows);
    t->rows = f->rows;
    for (size_t i = 0; i < t->n && f->n < CONSTANTS_MAX; i++) {
        const struct param *p = &f->rows[i];
        if (strncmp(p->key, f->room->prefix, strlen(f->room->prefix)) != 0 || strncmp(p->evidence, "fit", 3) != 0 ||
            !(p->value > 0))
            continue;
        f->moved[f->n] = i;
        f->now[f->n] = f->believed[f->n] = log(p->value);
        f->least[f->n] = log(fmax(p->min, p->value / 100));
        f->most[f->n] = log(p->max > 0 ? p->max : p->value * 100);
        f->n++;
    }
    read_priors(f, "tests/fit/priors.csv");
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *v, size_t n, double q)
{
    qsort(v, n, sizeof *v, by_size);
    const size_t i = (size_t)(q * (double)n);
    return v[i < n ? i : n - 1];
}

/* Errors of the suite's cases, of one source or (-1) of all that are scored. */
static size_t errors_of(const struct fit *f, const double *r, int suite, int source, double *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < f->cases.n; i++) {
        const struct observation *o = &f->cases.items[i];
        if (o->suite == suite && (source < 0 ? (size_t)o->source < f->n_scored : o->source == source))
            ret[n++] = 100 * (exp(fabs(r[i])) - 1);
    }
    return n;
}

static void report(const struct fit *f, const double *r, const int *inside)
{
    double *e = malloc((f->cases.n + 1) * sizeof *e);
    printf("%-20s %6s %9s %9s %9s %9s\n", "suite", "cases", "median %", "p90 %", "sources %", "inside %");
    for (int s = 0; s < SUITES; s++) {
        double sum = 0, sources = 0, in = 0, told = 0;
        for (size_t k = 0; k < f->n_scored; k++) {
            const size_t n = errors_of(f, r, s, (int)k, e);
            sum += n >= 3 ? quantile(e, n, 0.5) : 0;
            sources += n >= 3;
        }
        for (size_t i = 0; i < f->cases.n; i++)
            if (f->cases.items[i].suite == s && (size_t)f->cases.items[i].source < f->n_scored && inside[i] >= 0) {
                told++;
                in += inside[i];
            }
        const size_t n = errors_of(f, r, s, -1, e);
        if (n == 0)
            continue;
        const double median = quantile(e, n, 0.5), p90 = quantile(e, n, 0.9);
        printf("%-20s %6zu %9.1f %9.1f %9.1f", suite_names[s], n, median, p90, sum / sources);
        printf(told > 0 ? " %9.0f\n" : "         -\n", 100 * in / told);
    }
    free(e);
}

static void predict(struct fit *f, const double *parameters, int source, double *r, int *inside)
{
    for (size_t j = 0; j < f->n; j++)
        f->rows[f->moved[j]].value = exp(parameters[j]);
    bind(f);
    for (size_t i = 0; i < f->cases.n; i++)
        if (source < 0 || f->cases.items[i].source == source)
            r[i] = case_residual(&f->cases.items[i], f->catalog, &inside[i]);
}

/* A source a turn, the turns shared out to a process a core; what they find meets in shared memory. */
static void leave_out(struct fit *f)
{
    const size_t n = f->cases.n;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    double *r =
        mmap(NULL, n * (sizeof(double) + sizeof(int)), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r == MAP_FAILED)
        die("no shared memory", "");
    int *inside = (int *)(r + n);
    for (long c = 0; c < cores; c++) {
        if (fork() != 0)
            continue;
        for (size_t s = (size_t)c; s < f->n_scored; s += (size_t)cores) {
            double x[CONSTANTS_MAX];
            memcpy(x, f->believed, sizeof x);
            solve(f, (int)s, x);
            predict(f, x, (int)s, r, inside);
            fprintf(stderr, "without %s\n", f->cases.sources[s]);
        }
        _exit(0);
    }
    for (int status; wait(&status) > 0;)
        if (status != 0)
            die("a process", "failed");
    report(f, r, inside);
    munmap(r, n * (sizeof(double) + sizeof(int)));
}

static void fit_all(struct fit *f, const double *begin)
{
    double x[CONSTANTS_MAX];
    double *r = malloc(f->cases.n * sizeof *r);
    int *inside = malloc(f->cases.n * sizeof *inside);
    memcpy(x, begin, sizeof x);
    predict(f, x, -1, r, inside);
    puts(begin == f->now ? "as it stands" : "as believed before");
    report(f, r, inside);
    const double cost = solve(f, -1, x);
    printf("\nfitted, cost %.5f\n", cost);
    predict(f, x, -1, r, inside);
    report(f, r, inside);
    puts("\nkey,was,fitted,believed");
    for (size_t j = 0; j < f->n; j++)
        printf("%s,%.4g,%.4g,%.4g\n", f->rows[f->moved[j]].key, exp(f->now[j]), exp(x[j]), exp(f->believed[j]));
    free(r);
    free(inside);
}

int main(int argc, char **argv)
{
    struct fit f = {.rounds = ROUNDS};
    bool without = false, anew = false;
    api_init();
    f.catalog = test_catalog_bound();
    f.cases.arena = arena_new((size_t)1 << 30);
    for (size_t i = 0; argc > 1 && i < sizeof rooms / sizeof *rooms; i++)
        if (strcmp(argv[1], rooms[i].name) == 0)
            f.room = &rooms[i];
    if (f.room == NULL)
        die("usage:", "fit training|serving [--leave-out|--from-priors] [--rounds N] CASES_DIR...");
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--leave-out") == 0) {
            without = true;
        } else if (strcmp(argv[i], "--from-priors") == 0) {
            anew = true;
        } else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
            f.rounds = (int)strtol(argv[++i], NULL, 10);
        } else {
            cases_load(&f.cases, f.catalog, argv[i], f.room->suites);
            f.n_scored = f.n_scored > 0 ? f.n_scored : f.cases.n_sources;
        }
    }
    if (f.cases.n == 0)
        die("no cases", "");
    f.weights = calloc(f.cases.n, sizeof *f.weights);
    choose_constants(&f);
    printf("%zu constants, %zu cases of %zu sources\n", f.n, f.cases.n, f.cases.n_sources);
    if (without)
        leave_out(&f);
    else
        fit_all(&f, anew ? f.believed : f.now);
    free(f.weights);
    return 0;
}
