/* test_readings.c — every sample of readings says what its index says it says. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/diagnosis/readings.h"
#include "tests/support/test_catalog.h"

#define ARENA_MAX ((size_t)64 << 20)

struct check {
    const struct reading *r;
    const struct diagnosis *d;
    size_t compared, wrong;
};

static void verdict_of(struct check *c, bool right, const char *what, const char *got, const char *want)
{
    c->compared++;
    c->wrong += !right;
    cr_expect(right, "%s: %s is %s, not %s", c->r->file, what, got, want);
}

static void text_is(struct check *c, const char *what, const char *got, const json_t *want)
{
    const char *text = json_string_value(want);
    bool right = text == NULL ? got == NULL : got != NULL && strcmp(got, text) == 0;
    verdict_of(c, right, what, got == NULL ? "null" : got, text == NULL ? "null" : text);
}

static void count_is(struct check *c, const char *what, size_t got, const json_t *want)
{
    char g[24], w[24];
    size_t value = (size_t)json_integer_value(want); /* null: none */
    snprintf(g, sizeof g, "%zu", got);
    snprintf(w, sizeof w, "%zu", value);
    verdict_of(c, got == value, what, g, w);
}

static void number_is(struct check *c, const char *what, double got, const json_t *want, double tolerance)
{
    char g[40], w[40];
    double value = json_number_value(want);
    snprintf(g, sizeof g, "%g", got);
    snprintf(w, sizeof w, "%g", json_is_null(want) ? NAN : value);
    bool right = json_is_null(want) ? !isfinite(got) : fabs(got - value) <= tolerance * fmax(fabs(value), 1e-9);
    verdict_of(c, right, what, g, w);
}

static double share_sum(const struct card_list *l)
{
    double sum = 0;
    for (size_t i = 0; i < l->n; i++)
        sum += l->items[i].memory_used_mib / l->items[i].memory_total_mib;
    return sum / (double)l->n;
}

static void check_cards(struct check *c)
{
    const struct card_list *l = &c->d->cards;
    const json_t *count = json_object_get(c->r->expect, "gpu_count"), *gpus = json_object_get(c->r->expect, "gpus");
    if (strcmp(c->r->kind, "topo") != 0 && count != NULL)
        count_is(c, "gpu_count", l->n, count);
    size_t i;
    json_t *gpu;
    json_array_foreach(gpus, i, gpu)
    {
        if (i >= l->n)
            break;
        const struct card_reading *r = &l->items[i];
        number_is(c, "index", r->index, json_object_get(gpu, "index"), 0);
        text_is(c, "name", r->name, json_object_get(gpu, "name"));
        if (json_object_get(gpu, "mem_used_mib") != NULL)
            number_is(c, "mem_used_mib", r->memory_used_mib, json_object_get(gpu, "mem_used_mib"), 0);
        if (json_object_get(gpu, "mem_total_mib") != NULL)
            number_is(c, "mem_total_mib", r->memory_total_mib, json_object_get(gpu, "mem_total_mib"), 0);
        if (json_object_get(gpu, "util_pct") != NULL)
            number_is(c, "util_pct", r->utilisation_pct, json_object_get(gpu, "util_pct"), 1e-12);
        if (json_object_get(gpu, "power_w") != NULL)
            number_is(c, "power_w", r->power_w, json_object_get(gpu, "power_w"), 0);
        if (json_object_get(gpu, "power_limit_w") != NULL)
            number_is(c, "power_limit_w", r->power_limit_w, json_object_get(gpu, "power_limit_w"), 0);
        if (json_object_get(gpu, "mem_busy") != NULL)
            number_is(c, "mem_busy", r->memory_busy_pct, json_object_get(gpu, "mem_busy"), 1e-12);
        if (json_object_get(gpu, "gpu") != NULL)
            text_is(c, "gpu", r->gpu == NULL ? NULL : r->gpu->id, json_object_get(gpu, "gpu"));
    }
    json_t *verdict;
    json_array_foreach(json_object_get(c->r->expect, "per_gpu_verdict"), i, verdict)
        text_is(c, "per_gpu_verdict", i < l->n ? verdict_name(l->items[i].verdict) : NULL, verdict);
    if (l->n > 0 && json_object_get(c->r->expect, "mig") != NULL)
        verdict_of(c, l->items[0].mig == json_is_true(json_object_get(c->r->expect, "mig")), "mig", "other", "this");
    if (l->n > 0 && json_object_get(c->r->expect, "mig_devices") != NULL)
        verdict_of(c, (size_t)l->items[0].mig_devices == json_array_size(json_object_get(c->r->expect, "mig_devices")),
                   "mig_devices", "another number", "this");
}

/* Members that are lists over cards, or one figure of all. */
static void check_lists(struct check *c)
{
    const struct card_list *l = &c->d->cards;
    json_t *value;
    size_t i;
    json_array_foreach(json_object_get(c->r->expect, "gpu_names"), i, value)
        text_is(c, "gpu_names", i < l->n ? l->items[i].name : NULL, value);
    json_array_foreach(json_object_get(c->r->expect, "mem_used_mib"), i, value)
        number_is(c, "mem_used_mib", i < l->n ? l->items[i].memory_used_mib : NAN, value, 1e-3);
    json_array_foreach(json_object_get(c->r->expect, "util_pct"), i, value)
        number_is(c, "util_pct", i < l->n ? l->items[i].utilisation_pct : NAN, value, 1e-3);
    value = json_object_get(c->r->expect, "mem_total_mib");
    if (value != NULL && l->n > 0)
        number_is(c, "mem_total_mib", l->items[0].memory_total_mib, value, 0);
    value = json_object_get(c->r->expect, "mean_util_pct");
    if (value != NULL)
        number_is(c, "mean_util_pct", round(c->d->mean_utilisation_pct * 10) / 10, value, 1e-3);
    value = json_object_get(c->r->expect, "util_pct_mean");
    if (value != NULL)
        number_is(c, "util_pct_mean", round(c->d->mean_utilisation_pct * 10) / 10, value, 2e-3);
    value = json_object_get(c->r->expect, "mean_mem_frac");
    if (value != NULL)
        number_is(c, "mean_mem_frac", round(share_sum(l) * 1000) / 1000, value, 1.1e-3);
    if (json_object_get(c->r->expect, "driver") != NULL)
        text_is(c, "driver", c->d->driver, json_object_get(c->r->expect, "driver"));
    if (json_object_get(c->r->expect, "fault") != NULL)
        text_is(c, "fault", c->d->fault, json_object_get(c->r->expect, "fault"));
    if (json_object_get(c->r->expect, "cuda") != NULL)
        text_is(c, "cuda", c->d->cuda, json_object_get(c->r->expect, "cuda"));
}

static const struct card_reading *card_called(const struct card_list *l, const char *index)
{
    for (size_t i = 0; i < l->n; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", l->items[i].index);
        if (strcmp(text, index) == 0)
            return &l->items[i];
    }
    return NULL;
}

static void check_dmon(struct check *c)
{
    static const struct {
        const char *member;
        size_t offset;
    } figures[] = {{"sm_pct_mean", offsetof(struct card_reading, utilisation_pct)},
                   {"mem_bw_pct_mean", offsetof(struct card_reading, memory_busy_pct)},
                   {"fb_mb_mean", offsetof(struct card_reading, memory_used_mib)}};
    const char *key;
    json_t *value;
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
        json_object_foreach(json_object_get(c->r->expect, figures[f].member), key, value)
        {
            const struct card_reading *r = card_called(&c->d->cards, key);
            double got = r == NULL ? NAN : *(const double *)((const char *)r + figures[f].offset);
            verdict_of(c, fabs(got - json_number_value(value)) <= 0.0501, figures[f].member, "too far off", key);
        }
    json_object_foreach(json_object_get(c->r->expect, "samples_per_gpu"), key, value)
    {
        const struct card_reading *r = card_called(&c->d->cards, key);
        number_is(c, "samples_per_gpu", r == NULL ? NAN : r->samples, value, 0);
    }
}

static void check_topology(struct check *c)
{
    const struct topology *t = &c->d->topology;
    const json_t *e = c->r->expect, *count = json_object_get(e, "gpu_count");
    if (strcmp(c->r->kind, "topo") != 0)
        return;
    count_is(c, "gpus", (size_t)t->gpus, count);
    if (json_object_get(e, "nics") != NULL)
        number_is(c, "nics", t->nics, json_object_get(e, "nics"), 0);
    text_is(c, "link_gpu0_gpu1", t->link, json_object_get(e, "link_gpu0_gpu1"));
    const json_t *kinds = json_object_get(e, "link_kinds");
    json_t *value;
    size_t i;
    if (kinds != NULL)
        verdict_of(c, json_array_size(kinds) == t->n_kinds, "link_kinds", "another number", "this");
    json_array_foreach(kinds, i, value) text_is(c, "link_kinds", i < t->n_kinds ? t->kinds[i] : NULL, value);
    json_array_foreach(json_object_get(e, "gpu0_nic_links"), i, value)
        text_is(c, "gpu0_nic_links", i < t->n_nic_links ? t->nic_links[i] : NULL, value);
}

static void check_iterations(struct check *c)
{
    const struct iteration_stats *s = &c->d->iterations;
    const json_t *e = c->r->expect;
    if (strcmp(c->r->kind, "train_log") != 0)
        return;
    const struct {
        const char *member;
        double got, tolerance;
    } figures[] = {
        {"n", (double)s->n, 0},
        {"iter_ms_mean", s->mean_s * 1000, 0.005},
        {"iter_ms_median", s->median_s * 1000, 0.005},
        {"steady_ms_mean", s->steady_mean_s * 1000, 0.005},
        {"steady_cv", s->steady_cv, 0.02},
        {"samples_per_s", s->samples_per_s, 0.005},
        {"tokens_per_s", s->tokens_per_s, 0.005},
        {"tokens_per_s_per_gpu", s->tokens_per_s_per_gpu, 0.005},
        {"peak_memory_gb", s->peak_memory_gb / 1.073741824, 0.005},
        {"data_share", s->data_share, 0.005},
        {"global_batch", s->global_batch, 0},
        {"peak_memory_bytes", s->peak_memory_gb * 1e9, 0.005},
        {"peak_memory_mib", s->peak_memory_gb / 1.048576e-3, 0.005},
        {"seq_len", (double)s->seq_len, 0},
        {"world_size", (double)s->world_size, 0},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (json_object_get(e, figures[i].member) != NULL)
            number_is(c, figures[i].member, figures[i].got, json_object_get(e, figures[i].member),
                      figures[i].tolerance);
    if (json_object_get(e, "framework_named") != NULL)
        text_is(c, "framework", s->framework, json_object_get(e, "framework_named"));
    if (json_is_number(json_object_get(e, "cv"))) /* printed with three decimals */
        verdict_of(c, fabs(s->cv - json_number_value(json_object_get(e, "cv"))) < 6e-4, "cv", "too far off",
                   "expected");
    const json_t *first = json_object_get(e, "cv_excl_first_two");
    if (first == NULL)
        first = json_object_get(e, "cv_excl_first");
    if (json_is_number(first) && s->steady_n >= 5)
        verdict_of(c, fabs(s->steady_cv - json_number_value(first)) < 0.002, "steady_cv", "too far off",
                   "cv_excl_first");
}

static void check_verdict(struct check *c)
{
    const char *got = verdict_name(c->d->verdict), *want = json_string_value(json_object_get(c->r->expect, "verdict"));
    bool right = want != NULL && strcmp(got, want) == 0;
    json_t *value;
    size_t i;
    json_array_foreach(json_object_get(c->r->expect, "verdict_ok"), i, value) right =
        right || strcmp(got, json_string_value(value)) == 0;
    if (want != NULL)
        verdict_of(c, right, "verdict", got, want);
    json_array_foreach(json_object_get(c->r->expect, "says"), i, value)
    {
        bool said = false;
        for (size_t k = 0; k < c->d->findings.n; k++)
            said = said || strcmp(c->d->findings.items[k].note.code, json_string_value(value)) == 0;
        verdict_of(c, said, "says", "nothing of", json_string_value(value));
    }
    verdict_of(c, c->d->expand == (c->d->verdict == VERDICT_REAL_NEED), "expand", "not", "the verdict's");
    verdict_of(c, c->d->findings.n > 0 && strcmp(c->d->findings.items[0].note.code, got) == 0, "first finding", "other",
               "the verdict's");
}

static void check_folder(const char *folder)
{
    struct readings all = readings_load(folder);
    const struct catalog *catalog = test_catalog();
    size_t compared = 0, wrong = 0, samples_wrong = 0;
    for (size_t i = 0; i < all.n; i++) {
        struct arena *arena = arena_new(ARENA_MAX);
        struct diagnosis d;
        struct err err = {0};
        struct diagnosis_input in = reading_input(&all.items[i], all.items[i].text);
        cr_assert_eq(diagnosis_run(&in, catalog, arena, &d, &err), 0, "%s: %s", all.items[i].file, err.detail);
        struct check c = {&all.items[i], &d, 0, 0};
        check_cards(&c);
        check_lists(&c);
        check_dmon(&c);
        check_topology(&c);
        check_iterations(&c);
        check_verdict(&c);
        compared += c.compared;
        wrong += c.wrong;
        samples_wrong += c.wrong > 0;
        arena_free(arena);
    }
    fprintf(stderr, "readings: %zu samples, %zu figures compared, %zu wrong in %zu samples\n", all.n, compared, wrong,
            samples_wrong);
    cr_expect(all.n > 0, "no samples in %s", folder);
    readings_free(&all);
}

Test(readings, of_the_repository, .timeout = 60)
{
    check_folder("tests/data");
}

Test(readings, from_outside_where_present, .timeout = 60)
{
    const char *folder = readings_outside();
    if (folder == NULL) {
        fprintf(stderr, "readings: SKIPPED, no samples outside the repository (set SUANPAN_SHARED)\n");
        return;
    }
    check_folder(folder);
}
