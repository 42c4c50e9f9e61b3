/* diagnosis.c — all readings together: what each says, which of it is the verdict, and the measured block. */
#include "planner/diagnosis/diagnosis.h"

#include <math.h>
#include <string.h>

#include "planner/diagnosis/cards.h"
#include "planner/diagnosis/readers.h"
#include "planner/diagnosis/rules.h"
#include "planner/diagnosis/text.h"

#define MIB_GB 1.048576e-3 /* GB (1e9 bytes) in a MiB */

/* One paste under one name may hold any of the outputs; every reader has a look and takes only what it knows. */
static void read_text(const char *raw, struct arena *arena, struct cards *cards, struct diagnosis *d)
{
    char *clean = text_clean(raw, arena);
    if (clean == NULL)
        return;
    text_unstamp(clean);
    clean = text_by_host(clean, arena);
    size_t size = strlen(clean) + 1;
    char *text = arena_alloc(arena, size); /* each reader cuts its copy up */
    if (text == NULL)
        return;
    if (d->fault == NULL)
        d->fault = hint_fault(clean);
    memcpy(text, clean, size);
    read_smi_table(text, cards, &d->driver, &d->cuda);
    memcpy(text, clean, size);
    read_smi_list(text, cards, &d->driver, &d->cuda);
    memcpy(text, clean, size);
    read_smi_xml(text, cards, &d->driver, &d->cuda);
    memcpy(text, clean, size);
    read_npu_smi(text, cards);
    memcpy(text, clean, size);
    read_smi_csv(text, cards);
    memcpy(text, clean, size);
    read_dmon(text, cards);
    memcpy(text, clean, size);
    read_smi_other(text, cards);
    memcpy(text, clean, size);
    read_smi_columns(text, cards);
    memcpy(text, clean, size);
    read_amd_smi(text, cards);
    if (cards->n == 0 && cards->unknown.reading.samples == 0) {
        memcpy(text, clean, size);
        read_smi_words(text, cards);
    }
    memcpy(text, clean, size);
    if (!d->topology.read)
        read_topo(text, arena, &d->topology);
}

static const struct iteration_stats NO_ITERATIONS = {.mean_s = NAN,
                                                     .median_s = NAN,
                                                     .cv = NAN,
                                                     .steady_mean_s = NAN,
                                                     .steady_median_s = NAN,
                                                     .steady_cv = NAN,
                                                     .data_share = NAN,
                                                     .samples_per_s = NAN,
                                                     .tokens_per_s = NAN,
                                                     .tokens_per_s_per_gpu = NAN,
                                                     .peak_memory_gb = NAN};

static void read_log(const char *raw, struct arena *arena, struct iteration_stats *s)
{
    *s = NO_ITERATIONS;
    char *text = text_clean(raw, arena);
    if (text != NULL)
        read_training_log(text, arena, s);
    if (!s->read && (text = text_clean(raw, arena)) != NULL) {
        text_unstamp(text); /* a table in a collector's log */
        read_training_log(text, arena, s);
    }
}

/* A log counts under whatever name it was pasted, its other figures only where it is one. */
static void read_iterations(const struct diagnosis_input *in, struct arena *arena, struct iteration_stats *s)
{
    const char *const others[] = {in->nvidia_smi, in->nvidia_smi_csv, in->dmon, in->topo};
    read_log(in->training_log, arena, s);
    for (size_t i = 0; i < sizeof others / sizeof *others && !s->read; i++) {
        struct iteration_stats found;
        read_log(others[i], arena, &found);
        if (found.read)
            *s = found;
    }
    if (in->n_iteration_times > 0) /* stated times beat those read from a log */
        iteration_statistics(in->iteration_times_s, NULL, in->n_iteration_times, arena, s);
}

static void take_cards(const struct cards *cards, const struct catalog *c, const struct thresholds *t,
                       struct diagnosis *d)
{
    for (size_t i = 0; i < cards->n; i++) {
        struct card_reading *r = arena_push(d->cards.arena, &d->cards);
        if (r == NULL)
            return;
        *r = cards->items[i].reading;
        r->gpu = cards_match(c, r->name, r->memory_total_mib, r->power_limit_w);
        if (!isfinite(r->memory_busy_working_pct))
            r->memory_busy_working_pct = r->memory_busy_pct;
        r->memory_used_gb = r->memory_used_mib * MIB_GB;
        r->memory_total_gb = r->memory_total_mib * MIB_GB;
        r->verdict = judge_card(r, t).verdict;
        bool known = cards->items[i].host == NULL;
        for (size_t k = 0; k < i && !known; k++)
            known = cards->items[k].host != NULL && strcmp(cards->items[k].host, cards->items[i].host) == 0;
        d->hosts += !known;
    }
}

static double mean_over(const struct card_list *l, double (*figure)(const struct card_reading *))
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        double v = figure(&l->items[i]);
        if (isfinite(v)) {
            sum += v;
            n++;
        }
    }
    return n > 0 ? sum / (double)n : NAN;
}

static double utilisation(const struct card_reading *r)
{
    return r->utilisation_pct;
}

/* A list of names (nvidia-smi -L, nvlink -s) says nothing of what the cards do. */
static bool names_only(const struct card_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct card_reading *r = &l->items[i];
        if (isfinite(r->utilisation_pct) || isfinite(r->memory_used_mib) || isfinite(r->power_w) || r->mig)
            return false;
    }
    return true;
}

/* What mending would free of the present time, as the readings have it. NAN: they do not say.
 *
 * Cards that idle are to be as busy as a busy one, iterations as fast as the usual one, and communication to take no
 * more of a step than the rule allows. */
static double recoverable_read(const struct diagnosis *d, const struct thresholds *t)
{
    const struct iteration_stats *s = &d->iterations;
    const struct measured *m = &d->measured;
    if (m->recoverable_share >= 0 && m->verdict == d->verdict)
        return m->recoverable_share;
    if (d->verdict == VERDICT_DATA_PIPELINE && s->data_share > t->data_wait_share)
        return s->data_share;
    if (d->verdict == VERDICT_DATA_PIPELINE && m->gpu_util_pct >= 0 && m->gpu_util_pct < t->low_utilisation_pct)
        return 1 - m->gpu_util_pct / t->high_utilisation_pct;
    if (d->verdict == VERDICT_UNSTABLE_ITERATIONS && s->steady_mean_s > s->steady_median_s)
        return 1 - s->steady_median_s / s->steady_mean_s;
    const double communication = m->comm_share_pct / 100;
    if (d->verdict == VERDICT_WAITING && communication > t->communication_share)
        return (communication - t->communication_share) / (1 - t->communication_share);
    return NAN;
}

/* Where they do not say, the guides do of a data path; of waiting for other things nobody does. */
static void recoverable(struct diagnosis *d, const struct thresholds *t)
{
    const double read = recoverable_read(d, t);
    const bool of_data = d->verdict == VERDICT_DATA_PIPELINE || d->verdict == VERDICT_UNSTABLE_ITERATIONS;
    d->recoverable_read = isfinite(read);
    const double most = 1 - t->idle_utilisation_pct / t->high_utilisation_pct; /* a card less busy waits for nobody */
    d->recoverable_share = isfinite(read) ? fmin(read, most) : of_data ? t->recoverable_share : 0;
}

/* The gravest of the reasons is the verdict; the others that speak follow, and of an insufficient one what is missing.
 */
static void conclude(struct diagnosis *d, struct reason *reasons, size_t n, const struct thresholds *t)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (reasons[i].verdict > reasons[best].verdict)
            best = i;
    d->verdict = reasons[best].verdict;
    d->expand = d->verdict == VERDICT_REAL_NEED;
    struct reason first = reasons[best];
    first.code = verdict_name(d->verdict);
    finding_add(d, &first, -1);
    for (size_t i = 0; i < n; i++) {
        bool lacks = reasons[i].verdict == VERDICT_INSUFFICIENT;
        if (lacks ? d->verdict == VERDICT_INSUFFICIENT : i != best && reasons[i].verdict != VERDICT_HEALTHY)
            finding_add(d, &reasons[i], -1);
    }
    card_findings_add(d, t);
}

static void start(struct diagnosis *d, struct arena *arena)
{
    *d = (struct diagnosis){.findings.arena = arena,
                            .cards.arena = arena,
                            .mean_utilisation_pct = NAN,
                            .mean_memory_share = NAN,
                            .mean_power_share = NAN};
}

int diagnosis_run(const struct diagnosis_input *in, const struct catalog *c, struct arena *arena, struct diagnosis *ret,
                  struct err *err)
{
    struct thresholds t;
    if (thresholds_bind(&c->params, &t, err) != 0)
        return -1;
    start(ret, arena);
    struct cards cards;
    cards_init(&cards, arena);
    const char *const texts[] = {in->nvidia_smi, in->nvidia_smi_csv, in->dmon, in->topo, in->training_log};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        read_text(texts[i], arena, &cards, ret);
    read_iterations(in, arena, &ret->iterations);
    take_cards(&cards, c, &t, ret);
    ret->mean_utilisation_pct = mean_over(&ret->cards, utilisation);
    ret->mean_memory_share = mean_over(&ret->cards, card_memory_share);
    ret->mean_power_share = mean_over(&ret->cards, card_power_share);
    if (ret->cards.n == 0)
        ret->mean_utilisation_pct = cards.unknown.reading.utilisation_pct;
    struct reason reasons[3];
    size_t n = 0;
    if (ret->cards.n > 0)
        reasons[n++] = judge_machine(&ret->cards, &t);
    else if (cards.unknown.reading.samples > 0)
        reasons[n++] = judge_card(&cards.unknown.reading, &t);
    if (ret->iterations.read)
        reasons[n++] = judge_iterations(&ret->iterations, &t);
    struct reason links = judge_topology(&ret->topology);
    /* Good links are no proof of health where cards or iterations were read and say too little. */
    if (n == 0 || (names_only(&ret->cards) && ret->topology.read && !ret->iterations.read) ||
        links.verdict == VERDICT_PCIE_BOUND)
        reasons[n++] = links;
    conclude(ret, reasons, n, &t);
    if (ret->fault != NULL)
        note_text(remark_add(ret, "card_fault", "cards", (double)ret->cards.n), "what", ret->fault);
    hints_add(ret, in->training_log);
    measured_fill(ret, &t, &cards.unknown.reading);
    recoverable(ret, &t);
    if (ret->recoverable_read)
        ret->measured.recoverable_share = ret->recoverable_share;
    if (arena_failed(arena))
        return err_set(err, ERR_NOMEM, "the readings are too long to be read");
    return 0;
}

int diagnosis_from_measured(const struct measured *m, const struct catalog *c, struct arena *arena,
                            struct diagnosis *ret, struct err *err)
{
    return diagnosis_of_measured(m, c, NULL, arena, ret, err);
}

int diagnosis_of_measured(const struct measured *m, const struct catalog *c, const struct param_table *params,
                          struct arena *arena, struct diagnosis *ret, struct err *err)
{
    struct thresholds t;
    if (thresholds_bind(params != NULL ? params : &c->params, &t, err) != 0)
        return -1;
    start(ret, arena);
    ret->iterations.steady_median_s = ret->iterations.steady_mean_s = ret->iterations.data_share = NAN;
    ret->measured = *m;
    const struct gpu *gpu = m->gpu != NULL ? catalog_gpu(c, m->gpu) : NULL;
    struct card_sample s;
    card_sample_init(&s);
    struct cards cards;
    cards_init(&cards, arena);
    if (m->gpu_util_pct >= 0)
        s.utilisation_pct = m->gpu_util_pct;
    if (m->memory_used_pct >= 0) { /* of a total that does not matter: any will do */
        s.memory_total_mib = gpu != NULL && gpu->usable_gib > 0 ? gpu->usable_gib * 1024 : 81920;
        s.memory_used_mib = s.memory_total_mib * m->memory_used_pct / 100;
    } else if (m->peak_memory_gb >= 0 && gpu != NULL)
        s.memory_used_mib = m->peak_memory_gb / MIB_GB;
    cards_add_unknown(&cards, &s);
    cards.unknown.reading.gpu = gpu;
    struct reason reasons[3] = {judge_card(&cards.unknown.reading, &t),
                                judge_variation(m->iteration_time_cv >= 0 ? m->iteration_time_cv : NAN, &t),
                                judge_communication(m->comm_share_pct >= 0 ? m->comm_share_pct / 100 : NAN, &t)};
    size_t n = 3;
    if (m->verdict != VERDICT_INSUFFICIENT) { /* a diagnosis saw more than averages; only graver figures overrule it */
        struct reason best = judge_stated(m, &t);
        for (size_t i = 0; i < 3; i++)
            if (reasons[i].verdict == best.verdict ||
                (verdict_not_cards(reasons[i].verdict) && reasons[i].verdict > best.verdict))
                best = reasons[i];
        best.stated = true;
        reasons[0] = best;
        n = 1;
    }
    conclude(ret, reasons, n, &t);
    recoverable(ret, &t);
    return arena_failed(arena) ? err_set(err, ERR_NOMEM, "no room for a diagnosis") : 0;
}
