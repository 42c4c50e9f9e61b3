/* advice.c — when a cluster is right and when it is not (docs/advice.md), each rule reported when it holds.
 */
#include "planner/advice/advice.h"
#include "planner/advice/follow.h"

#include <math.h>
#include <string.h>

int advice_terms_bind(const struct param_table *params, struct advice_terms *ret, struct err *err)
{
    static const struct param_field fields[] = {
        PARAM_FIELD(struct advice_terms, one_card_days, "trigger_one_card_days"),
        PARAM_FIELD(struct advice_terms, data_wait_share, "trigger_data_wait_share"),
        PARAM_FIELD(struct advice_terms, busy_util_pct, "trigger_busy_util_pct"),
        PARAM_FIELD(struct advice_terms, comm_share, "counter_communication_share"),
        PARAM_FIELD(struct advice_terms, gap_soft, "memory_gap_soft"),
        PARAM_FIELD(struct advice_terms, gap_hard, "memory_gap_hard"),
        PARAM_FIELD(struct advice_terms, container_days, "container_rental_days"),
        PARAM_FIELD(struct advice_terms, budget_contingency, "budget_contingency_share"),
        PARAM_FIELD(struct advice_terms, budget_reserve_most, "budget_reserve_share_max"),
    };
    return param_bind(params, fields, sizeof fields / sizeof *fields, ret, err);
}

static const struct draft *first_of(const struct option_list *ranked, enum option_kind kind)
{
    for (size_t i = 0; i < ranked->n; i++)
        if (ranked->items[i]->kind == kind)
            return ranked->items[i];
    return NULL;
}

static const struct draft *soonest_of(const struct option_list *ranked, enum option_kind kind)
{
    const struct draft *best = NULL;
    for (size_t i = 0; i < ranked->n; i++) {
        const struct draft *d = ranked->items[i];
        if (d->kind == kind && d->base && (!best || d->base->schedule.finish_day < best->base->schedule.finish_day))
            best = d;
    }
    return best;
}

static const struct draft *cheapest_of(const struct option_list *ranked, enum option_kind kind)
{
    const struct draft *best = NULL;
    for (size_t i = 0; i < ranked->n; i++) {
        const struct draft *d = ranked->items[i];
        if (d->kind == kind && d->base && (!best || d->base->total < best->base->total))
            best = d;
    }
    return best;
}

/* Is it memory that no single machine carries the work for? A request may also not have asked for one. */
static bool memory_stops_one(const struct advice *a)
{
    const struct note_list *why = &a->b->refusals[KIND_SINGLE_MACHINE];
    return a->need_gb > a->machine_gb || note_find(why, "memory_wall") != NULL || note_find(why, "host_memory") != NULL;
}

/* What pushes towards a cluster and can be read from the workload and the ranked options. */
static void work_triggers(struct advice *a)
{
    const struct build *b = a->b;
    const struct estimate *e = a->first ? a->first->estimate : NULL;
    struct note_list *to = &a->plan->cluster_triggers;
    if (!b->trains)
        return;
    if (e && e->training.gpu_hours > a->t.one_card_days * 24)
        note_num(note_num(note_add(to, "trigger_one_card_too_slow"), "days", e->training.gpu_hours / 24), "limit_days",
                 a->t.one_card_days);
    if (!a->single && a->cluster && memory_stops_one(a))
        note_num(note_num(note_add(to, "trigger_not_one_machine"), "need_gb", a->need_gb), "machine_gb", a->machine_gb);
    if (b->training.parallel_runs > 1)
        note_num(note_add(to, "trigger_parallel_experiments"), "runs", b->training.parallel_runs);
    if (b->serves && b->reserve.months > 0)
        note_num(note_add(to, "trigger_train_and_serve"), "months", b->reserve.months);
}

/* What pushes towards a cluster and shows only in calendars, readings and sums. */
static void supply_triggers(struct advice *a)
{
    const struct build *b = a->b;
    const struct measured *m = &b->workload->measured;
    struct note_list *to = &a->plan->cluster_triggers;
    const struct draft *single = soonest_of(a->ranked, KIND_SINGLE_MACHINE);
    const struct draft *cheap_single = cheapest_of(a->ranked, KIND_SINGLE_MACHINE);
    const struct draft *cheap_cluster = cheapest_of(a->ranked, KIND_SMALL_CLUSTER);
    if (!b->trains)
        return;
    if (single && b->workload->constraints.deadline_on != DATE_NONE &&
        single->base->schedule.finish_day > b->deadline_day)
        note_num(note_date(note_add(to, "trigger_deadline"), "deadline", b->workload->constraints.deadline_on),
                 "late_days", single->base->schedule.finish_day - b->deadline_day);
    if (m->stated && m->gpu_util_pct >= a->t.busy_util_pct && b->training.runs > b->training.parallel_runs)
        note_num(note_num(note_add(to, "trigger_machine_queue"), "util_pct", m->gpu_util_pct), "waiting",
                 b->training.runs - b->training.parallel_runs);
    const struct estimate *e = a->single ? a->single->estimate : NULL;
    const double nvme = a->single ? a->single->groups[a->single->train_group].offer->sku->nvme_gb : 0;
    if (e && e->training.data_wait_share > a->t.data_wait_share)
        note_percent(note_add(to, "trigger_data_outruns_machine"), "wait_share", e->training.data_wait_share);
    else if (nvme > 0 && b->training.dataset_gb > nvme)
        note_num(note_num(note_add(to, "trigger_data_outgrows_machine"), "dataset_gb", b->training.dataset_gb),
                 "nvme_gb", nvme);
    if (cheap_single && cheap_cluster && cheap_single->base->total >= cheap_cluster->base->total)
        note_money(note_money(note_add(to, "trigger_cluster_entry_price"), "single", cheap_single->base->total),
                   "cluster", cheap_cluster->base->total);
}

static void counter_signs(struct advice *a)
{
    const struct build *b = a->b;
    const struct workload *w = b->workload;
    struct note_list *to = &a->plan->counter_signs;
    if (b->trains && !w->measured.stated)
        note_add(to, "debugging_stage");
    if (b->trains && a->single && (w->training.method == METHOD_LORA || w->training.method == METHOD_QLORA))
        note_text(
            note_text(note_add(to, "peft_fits"), "method", workload_enum_name(ENUM_METHOD, (int)w->training.method)),
            "gpu", a->single->shape.gpu->name);
    if (!b->trains && b->serves && b->reserve.offer && !a->cluster) {
        note_num(note_text(note_add(to, "inference_fits"), "gpu", b->reserve.offer->sku->gpu->name), "machines",
                 reserve_plan_machines(&b->reserve));
    }
    const double share = a->cluster && a->cluster->estimate ? a->cluster->estimate->training.communication_share : 0;
    const double read = w->measured.stated ? w->measured.comm_share_pct / 100 : 0;
    if (fmax(share, read) > a->t.comm_share)
        note_percent(note_add(to, "communication_above_compute"), "share", fmax(share, read));
    const double nodes = w->constraints.team == TEAM_NONE          ? b->a.team_max_nodes_none
                         : w->constraints.team == TEAM_SINGLE_NODE ? b->a.team_max_nodes_single_node
                                                                   : 0;
    if (nodes > 0)
        note_num(note_add(to, "team_ceiling"), "nodes", nodes);
}

/* The biggest machine of the recommended card (or of any option's) that the need is held against. */
static void measure_machine(struct advice *a)
{
    for (size_t i = 0; i < a->ranked->n; i++) {
        const struct draft *d = a->ranked->items[i];
        const struct sku *sku = d->groups[d->train_group].offer->sku;
        struct shape node = {.gpu = sku->gpu, .gpus_per_node = sku->gpus_per_node, .nodes = 1};
        a->machine_gb = fmax(a->machine_gb, shape_usable_bytes(&node) / 1e9 * sku->gpus_per_node);
    }
    a->need_gb = a->b->trains ? build_state_bytes(a->b) / 1e9 : 0;
}

int advice_build(struct build *b, const struct option_list *ranked, struct plan *plan, struct err *err)
{
    struct advice a = {.b = b, .ranked = ranked, .plan = plan};
    if (advice_terms_bind(&b->params, &a.t, err))
        return -1;
    a.first = ranked->n > 0 ? ranked->items[0] : NULL;
    a.single = first_of(ranked, KIND_SINGLE_MACHINE);
    a.cluster = first_of(ranked, KIND_SMALL_CLUSTER);
    measure_machine(&a);
    work_triggers(&a);
    supply_triggers(&a);
    counter_signs(&a);
    advice_staged(&a);
    return 0;
}
