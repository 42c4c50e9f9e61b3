/* fuzz_diagnosis.c — any paste under every name: a verdict whose figures can be, and the same verdict again from the
 * measured block. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "planner/diagnosis/diagnosis.h"
#include "tests/fuzz/fuzz_catalog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static bool within(double v, double most)
{
    return !isfinite(v) || (v >= 0 && v <= most);
}

static void check(const struct diagnosis *d)
{
    must(d->verdict < VERDICT_COUNT && d->findings.n > 0 && within(d->recoverable_share, 1));
    must(d->expand == (d->verdict == VERDICT_REAL_NEED));
    for (size_t i = 0; i < d->cards.n; i++) {
        const struct card_reading *r = &d->cards.items[i];
        must(within(r->utilisation_pct, 100) && within(r->memory_busy_pct, 100) && within(r->memory_used_mib, 1e9));
    }
    const struct iteration_stats *s = &d->iterations;
    must(!s->read || (s->n > 0 && s->mean_s > 0 && s->steady_n <= s->n && !(s->steady_cv < 0)));
    const struct measured *m = &d->measured;
    must(m->gpu_util_pct <= 100 && m->memory_used_pct <= 100 && (m->step_time_s == 0 || m->gpu != NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 65536)
        return 0;
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    struct arena *arena = arena_new((size_t)64 << 20);
    struct diagnosis_input in = {text, text, text, text, text, NULL, 0};
    struct diagnosis d, again;
    struct err err;
    must(diagnosis_run(&in, fuzz_catalog(), arena, &d, &err) == 0);
    check(&d);
    must(diagnosis_from_measured(&d.measured, fuzz_catalog(), arena, &again, &err) == 0);
    must(d.verdict == VERDICT_INSUFFICIENT || again.verdict == d.verdict || verdict_not_cards(again.verdict));
    arena_free(arena);
    free(text);
    return 0;
}
