/* rules.c — the rules of docs/domain.md section 4.
 *
 * Utilisation as nvidia-smi counts it is the share of time in which any kernel ran; it says nothing of how busy the
 * kernel kept the card. Power does: that is why a busy card far under its limit is waiting.
 */
#include "planner/diagnosis/rules.h"

#include <math.h>
#include <string.h>

int thresholds_bind(const struct param_table *params, struct thresholds *ret, struct err *err)
{
    static const struct param_field fields[] = {
        PARAM_FIELD(struct thresholds, memory_full_share, "diagnosis_memory_full_share"),
        PARAM_FIELD(struct thresholds, low_utilisation_pct, "diagnosis_low_utilisation_pct"),
        PARAM_FIELD(struct thresholds, high_utilisation_pct, "diagnosis_high_utilisation_pct"),
        PARAM_FIELD(struct thresholds, idle_utilisation_pct, "diagnosis_idle_utilisation_pct"),
        PARAM_FIELD(struct thresholds, power_low_share, "diagnosis_power_low_share"),
        PARAM_FIELD(struct thresholds, power_near_limit_share, "diagnosis_power_near_limit_share"),
        PARAM_FIELD(struct thresholds, bandwidth_saturated_pct, "diagnosis_bandwidth_saturated_pct"),
        PARAM_FIELD(struct thresholds, iteration_cv, "diagnosis_iteration_cv"),
        PARAM_FIELD(struct thresholds, min_iterations, "diagnosis_min_iterations"),
        PARAM_FIELD(struct thresholds, communication_share, "diagnosis_communication_share"),
        PARAM_FIELD(struct thresholds, data_wait_share, "diagnosis_data_wait_share"),
        PARAM_FIELD(struct thresholds, workload_memory_mib, "diagnosis_workload_memory_mib"),
        PARAM_FIELD(struct thresholds, recoverable_share, "diagnosis_recoverable_share"),
        PARAM_FIELD(struct thresholds, straggler_share, "diagnosis_straggler_share"),
    };
    return param_bind(params, fields, sizeof fields / sizeof *fields, ret, err);
}

const char *verdict_name(enum verdict v)
{
    const char *name = workload_enum_name(ENUM_VERDICT, (int)v);
    return name != NULL ? name : "insufficient";
}

bool verdict_not_cards(enum verdict v)
{
    return v == VERDICT_WAITING || v == VERDICT_BANDWIDTH_BOUND || v == VERDICT_UNSTABLE_ITERATIONS ||
           v == VERDICT_DATA_PIPELINE;
}

static struct reason because(enum verdict v, const char *metric, double value, double threshold)
{
    return (struct reason){v, verdict_name(v), metric, value, threshold, false};
}

static struct reason lacking(const char *code, const char *metric, double value, double threshold)
{
    return (struct reason){VERDICT_INSUFFICIENT, code, metric, value, threshold, false};
}

double card_memory_share(const struct card_reading *r)
{
    double total = r->memory_total_mib;
    if (!isfinite(total) && r->gpu != NULL && r->gpu->usable_gib > 0)
        total = r->gpu->usable_gib * 1024;
    double share = total > 0 ? r->memory_used_mib / total : NAN;
    return isfinite(share) ? share : r->memory_pct / 100;
}

double card_power_share(const struct card_reading *r)
{
    double limit = r->power_limit_w;
    if (!isfinite(limit) && r->gpu != NULL && r->gpu->tdp_w > 0)
        limit = r->gpu->tdp_w;
    return limit > 0 ? r->power_w / limit : NAN;
}

bool card_is_idle(const struct card_reading *r, const struct thresholds *t)
{
    return r->utilisation_pct < t->idle_utilisation_pct && !(card_memory_share(r) >= t->memory_full_share);
}

/* A card that some kernel keeps busy: computing, waiting, or enough of a good thing. */
static struct reason judge_busy(const struct card_reading *r, double memory, double power, const struct thresholds *t)
{
    if (power < t->power_low_share)
        return because(VERDICT_WAITING, "power_share", power, t->power_low_share);
    if (!isfinite(memory))
        return lacking("no_memory_total", "memory_share", memory, t->memory_full_share);
    bool near_limit = !isfinite(power) || power >= t->power_near_limit_share;
    if (memory > t->memory_full_share && near_limit)
        return because(VERDICT_REAL_NEED, "utilisation_pct", r->utilisation_pct, t->high_utilisation_pct);
    return because(VERDICT_HEALTHY, "utilisation_pct", r->utilisation_pct, t->high_utilisation_pct);
}

struct reason judge_card(const struct card_reading *r, const struct thresholds *t)
{
    double memory = card_memory_share(r), power = card_power_share(r), busy = r->utilisation_pct;
    if (!isfinite(busy))
        return lacking(r->mig ? "mig_no_utilisation" : "no_utilisation", "utilisation_pct", busy, NAN);
    bool empty = r->memory_used_mib < t->workload_memory_mib || (!isfinite(r->memory_used_mib) && r->memory_pct < 1);
    if (empty && busy >= t->low_utilisation_pct)
        return lacking("no_workload", "memory_used_mib", r->memory_used_mib, t->workload_memory_mib);
    if (memory >= t->memory_full_share && busy < t->low_utilisation_pct)
        return because(VERDICT_DATA_PIPELINE, "utilisation_pct", busy, t->low_utilisation_pct);
    if (busy < t->idle_utilisation_pct)
        return lacking("idle_machine", "utilisation_pct", busy, t->idle_utilisation_pct);
    bool computing = power >= t->power_near_limit_share && memory > t->memory_full_share;
    if (r->memory_busy_working_pct >= t->bandwidth_saturated_pct && !computing)
        return because(VERDICT_BANDWIDTH_BOUND, "memory_busy_pct", r->memory_busy_working_pct,
                       t->bandwidth_saturated_pct);
    if (busy > t->high_utilisation_pct)
        return judge_busy(r, memory, power, t);
    if (!isfinite(memory))
        return lacking("no_memory_total", "memory_share", memory, t->memory_full_share);
    if (busy >= t->low_utilisation_pct)
        return because(VERDICT_HEALTHY, "utilisation_pct", busy, t->low_utilisation_pct);
    return lacking("no_rule_fired", "utilisation_pct", busy, t->low_utilisation_pct);
}

struct reason judge_variation(double cv, const struct thresholds *t)
{
    if (!isfinite(cv))
        return lacking("few_iterations", "iteration_time_cv", cv, t->iteration_cv);
    return because(cv > t->iteration_cv ? VERDICT_UNSTABLE_ITERATIONS : VERDICT_HEALTHY, "iteration_time_cv", cv,
                   t->iteration_cv);
}

struct reason judge_iterations(const struct iteration_stats *s, const struct thresholds *t)
{
    if (!s->read)
        return lacking("no_iterations", "iterations", 0, t->min_iterations);
    if (s->data_share > t->data_wait_share)
        return because(VERDICT_DATA_PIPELINE, "data_wait_share", s->data_share, t->data_wait_share);
    if (s->smoothed)
        return lacking("smoothed_rate", "iterations", (double)s->n, t->min_iterations);
    if ((double)s->steady_n < t->min_iterations)
        return lacking("few_iterations", "iterations", (double)s->steady_n, t->min_iterations);
    return judge_variation(s->steady_cv, t);
}

struct reason judge_communication(double share, const struct thresholds *t)
{
    if (share > t->communication_share)
        return because(VERDICT_WAITING, "communication_share", share, t->communication_share);
    return lacking("no_rule_fired", "communication_share", share, t->communication_share);
}

/* A verdict that a workload brings along: the figure it usually turns on, where the workload has that. */
struct reason judge_stated(const struct measured *m, const struct thresholds *t)
{
    switch (m->verdict) {
    case VERDICT_UNSTABLE_ITERATIONS:
        return because(m->verdict, "iteration_time_cv", m->iteration_time_cv >= 0 ? m->iteration_time_cv : NAN,
                       t->iteration_cv);
    case VERDICT_WAITING:
        return because(m->verdict, "power_share", NAN, t->power_low_share);
    case VERDICT_BANDWIDTH_BOUND:
        return because(m->verdict, "memory_busy_pct", NAN, t->bandwidth_saturated_pct);
    case VERDICT_PCIE_BOUND:
        return because(m->verdict, "pcie_pairs", NAN, 0);
    case VERDICT_DATA_PIPELINE: /* the mean may be above the limit that single cards, or the log, were below */
        if (m->gpu_util_pct < 0)
            return because(m->verdict, "data_wait_share", NAN, t->data_wait_share);
        return because(m->verdict, "utilisation_pct", m->gpu_util_pct < t->low_utilisation_pct ? m->gpu_util_pct : NAN,
                       t->low_utilisation_pct);
    case VERDICT_REAL_NEED:
    case VERDICT_HEALTHY:
    case VERDICT_INSUFFICIENT:
    case VERDICT_COUNT:
        break;
    }
    return because(m->verdict, "utilisation_pct", m->gpu_util_pct >= 0 ? m->gpu_util_pct : NAN,
                   t->high_utilisation_pct);
}

struct reason judge_topology(const struct topology *topology)
{
    if (!topology->read || topology->gpus < 2 || topology->nvlink_pairs + topology->pcie_pairs == 0)
        return lacking(!topology->read      ? "nothing_read"
                       : topology->gpus < 2 ? "single_card"
                                            : "links_not_shown",
                       "cards", topology->gpus, 2);
    return because(topology->pcie_bound ? VERDICT_PCIE_BOUND : VERDICT_HEALTHY, "pcie_pairs", topology->pcie_pairs, 0);
}

struct note *finding_add(struct diagnosis *d, const struct reason *why, int card)
{
    struct finding *f = arena_push(d->findings.arena, &d->findings);
    static _Thread_local struct finding thrown_away; /* full: arena_failed is checked at the end */
    if (f == NULL)
        f = &thrown_away;
    *f = (struct finding){.note = {.code = why->code, .short_by = NAN},
                          .verdict = why->verdict,
                          .metric = why->metric,
                          .value = why->value,
                          .threshold = why->threshold,
                          .card = card};
    const char *unit = strrchr(why->metric, '_');
    struct note *(*figure)(struct note *, const char *, double) =
        unit != NULL && strcmp(unit, "_share") == 0 ? note_percent : note_num;
    note_text(&f->note, "metric", why->metric);
    if (isfinite(why->value))
        figure(&f->note, "value", why->value);
    else
        note_text(&f->note, "value", why->stated ? "as_diagnosed" : "-");
    if (isfinite(why->threshold))
        figure(&f->note, "threshold", why->threshold);
    else
        note_text(&f->note, "threshold", "-");
    return &f->note;
}

struct note *remark_add(struct diagnosis *d, const char *code, const char *metric, double value)
{
    const struct reason why = {VERDICT_INSUFFICIENT, code, metric, value, NAN, false};
    return finding_add(d, &why, -1);
}
