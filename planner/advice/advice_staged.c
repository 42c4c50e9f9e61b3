/* advice_staged.c — what to do first and what next: squeeze, validate, join two nodes, which scheduler, which supply.
 */
#include <math.h>
#include <string.h>

#include "planner/advice/advice.h"

/* memory_gap_soft: squeeze first; memory_gap_hard: a cluster at once; between the two both are said. */
static void memory_gap(struct advice *a)
{
    struct note_list *to = &a->plan->staged_advice;
    const double ratio = a->machine_gb > 0 ? a->need_gb / a->machine_gb : 0;
    if (ratio <= 1)
        return;
    if (ratio < a->t.gap_hard)
        note_num(note_num(note_num(note_add(to, "memory_gap_soft"), "ratio", ratio), "need_gb", a->need_gb),
                 "machine_gb", a->machine_gb);
    if (ratio > a->t.gap_soft)
        note_num(note_num(note_num(note_add(to, "memory_gap_hard"), "ratio", ratio), "need_gb", a->need_gb),
                 "machine_gb", a->machine_gb);
}

/* Two nodes before more of them; a cluster of two is its own gate. */
static void stage_two_nodes(struct advice *a, int nodes)
{
    struct note *n = note_add(&a->plan->staged_advice, nodes > 2 ? "stage_two_nodes" : "stage_two_nodes_only");
    note_num(note_num(n, "gate", a->b->a.two_node_gate), "nodes", nodes);
}

static void order_of_steps(struct advice *a)
{
    const struct build *b = a->b;
    struct note_list *to = &a->plan->staged_advice;
    const struct draft *d = a->first;
    for (int i = 0; d && i < d->n_steps; i++)
        if (d->steps[i].phase == PHASE_VALIDATE && d->steps[i].hours > 0) {
            note_num(note_text(note_add(to, b->trains ? "stage_validate_first" : "stage_validate_service"), "gpu",
                               d->shape.gpu->name),
                     "days", ceil(d->steps[i].hours / fmax(d->steps[i].hours_per_day, 1)));
            break;
        }
    if (b->trains)
        note_percent(note_add(to, "stage_develop_on_one_machine"), "share", b->a.debug_share);
    const double read = b->workload->measured.stated ? b->workload->measured.two_node_speedup : 0;
    if (read > 0 && read < b->a.two_node_gate)
        note_num(note_num(note_add(to, "stage_two_nodes_failed"), "measured", read), "gate", b->a.two_node_gate);
    else if (a->cluster && read <= 0 && b->trains && a->cluster->groups[a->cluster->train_group].units > 1)
        stage_two_nodes(a, a->cluster->groups[a->cluster->train_group].units);
}

/* Same model first, two nodes joined before a new generation, a new generation cut by pipeline stage. */
static void upgrade_path(struct advice *a)
{
    struct note_list *to = &a->plan->staged_advice;
    if (!a->first)
        return;
    const struct sku *sku = a->first->groups[a->first->train_group].offer->sku;
    note_text(note_text(note_add(to, "upgrade_same_model"), "gpu", sku->gpu->name), "provider", sku->provider->id);
    const double measured = a->b->workload->measured.two_node_speedup;
    const bool stopped = measured > 0 && measured < a->b->a.two_node_gate;
    const bool one_machine =
        a->first->groups[a->first->train_group].units < 2 && note_find(&a->plan->counter_signs, "peft_fits") == NULL;
    if (a->b->trains && sku->max_nodes > 1 && one_machine && !stopped)
        note_text(note_add(to, "upgrade_join_nodes"), "gpu", sku->gpu->name);
    if (a->b->trains)
        note_add(to, "upgrade_new_generation");
    if (a->b->workload->constraints.mix_gpus)
        note_add(to, "slow_card_gates");
}

static bool several_models(const struct draft *d)
{
    for (int i = 0; d && i < d->n_groups; i++)
        if (d->groups[i].offer->sku->gpu != d->shape.gpu)
            return true;
    return false;
}

static void scheduler(struct advice *a)
{
    const struct build *b = a->b;
    struct note_list *to = &a->plan->staged_advice;
    const enum team team = b->workload->constraints.team;
    const bool many_machines = a->cluster || b->training.parallel_runs > 1;
    const bool tenants = b->trains && b->serves && b->reserve.months > 0;
    if (!many_machines && !tenants)
        return;
    if (team == TEAM_KUBERNETES || !b->trains || (tenants && team != TEAM_SLURM))
        note_add(to, "scheduler_kubernetes");
    else if (b->training.method == METHOD_EMBEDDING || (b->training.method == METHOD_CUSTOM && !a->cluster))
        note_add(to, "scheduler_ray");
    else
        note_add(to, "scheduler_slurm");
    if (several_models(a->first) || several_models(a->cluster))
        note_add(to, "slurm_partition_by_model");
}

/* Half-way forms for teams that should not run a cluster, and metal against containers by the length of the rental. */
static void form_of_supply(struct advice *a)
{
    const struct build *b = a->b;
    struct note_list *to = &a->plan->staged_advice;
    const enum team team = b->workload->constraints.team;
    if (!a->first || !a->first->base || a->first->kind == KIND_UNIVERSITY_TIME)
        return; /* a centre has one form, its own */
    const bool wants_more = a->cluster || a->plan->cluster_triggers.n > 0;
    if (wants_more && (team == TEAM_NONE || team == TEAM_SINGLE_NODE || team == TEAM_UNSTATED))
        note_add(to, "managed_machine");
    if (wants_more && (team == TEAM_KUBERNETES || b->training.parallel_runs > 1))
        note_add(to, "container_cluster");
    const double served = b->trains ? 0 : b->reserve.months * b->a.month_days;
    const double days = a->first->base->schedule.finish_days + served;
    const bool metal = b->workload->constraints.data_sensitive || days > a->t.container_days;
    note_num(note_num(note_add(to, metal ? "bare_metal" : "container"), "days", ceil(days)), "limit_days",
             a->t.container_days);
}

void advice_staged(struct advice *a)
{
    memory_gap(a);
    order_of_steps(a);
    upgrade_path(a);
    scheduler(a);
    form_of_supply(a);
}
