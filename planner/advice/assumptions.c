/* assumptions.c — see assumptions.h. */
#include "planner/advice/assumptions.h"

#include <string.h>

#include "planner/takeaway/launch_request.h"

enum { ALWAYS = 0, TRAINS = 1 << 0, UNIVERSITY = 1 << 1, HYBRID = 1 << 2, BUDGET = 1 << 3, SENSITIVE = 1 << 4 };

static const struct listed {
    const char *name;
    unsigned when; /* all of it */
} rows[] = {
    {"trigger_one_card_days", TRAINS},
    {"trigger_data_wait_share", TRAINS},
    {"trigger_busy_util_pct", TRAINS},
    {"counter_communication_share", TRAINS},
    {"memory_gap_soft", TRAINS},
    {"memory_gap_hard", TRAINS},
    {"container_rental_days", ALWAYS},
    {"relaxation_saving_share", ALWAYS},
    {"plan_effort", ALWAYS},
    {"own_years", ALWAYS},
    {"own_utilisation", ALWAYS},
    {"hosting_per_kw_month", ALWAYS},
    {"power_per_kwh", ALWAYS},
    {"pue", ALWAYS},
    {"server_overhead_share", ALWAYS},
    {"power_share_idle", ALWAYS},
    {"maintenance_share", ALWAYS},
    {"staff_share", ALWAYS},
    {"engineer_per_year", ALWAYS},
    {"residual_share", ALWAYS},
    {"agreement_days", UNIVERSITY},
    {"off_peak_share", UNIVERSITY},
    {"university_job_cap_hours", UNIVERSITY},
    {"university_queue_median_hours", UNIVERSITY},
    {"university_queue_p90_hours", UNIVERSITY},
    {"university_restart_hours", UNIVERSITY},
    {"university_user_class", UNIVERSITY},
    {"run_result_gb_per_billion_params", HYBRID},
    {"answer_bytes_per_token", HYBRID},
    {"peak_hours_per_day", ALWAYS},
    {"desensitise_days", SENSITIVE},
    {"budget_contingency_share", BUDGET},
    {"budget_reserve_share_max", BUDGET},
};

static unsigned flags_of(const struct build *b, const struct plan *plan)
{
    unsigned flags = b->trains ? TRAINS : 0;
    if (b->budget_minor > 0)
        flags |= BUDGET;
    if (b->workload->constraints.data_sensitive)
        flags |= SENSITIVE;
    for (size_t i = 0; i < plan->n_options; i++) {
        flags |= plan->options[i].kind == KIND_UNIVERSITY_TIME ? UNIVERSITY : 0;
        flags |= plan->options[i].kind == KIND_HYBRID_CLOUD ? HYBRID : 0;
    }
    return flags;
}

static int list_one(struct build *b, struct plan *plan, const char *name)
{
    const struct param *p = param_find(&b->params, name);
    const struct workload *w = b->workload;
    if (p == NULL)
        return 0;
    if (!arena_grow(b->arena, (void **)&plan->assumptions, &plan->cap_assumptions, plan->n_assumptions,
                    sizeof *plan->assumptions))
        return -1;
    const char *source = p->source;
    for (size_t i = 0; i < w->n_overrides; i++)
        if (strcmp(w->overrides[i].name, name) == 0)
            source = "request";
    plan->assumptions[plan->n_assumptions++] = (struct plan_assumption){p->key, p->value, source, p->unit};
    return 0;
}

/* The rows of every tier that supplies an option. */
static int list_tiers(struct build *b, struct plan *plan)
{
    static const char *const figures[] = {"failure_factor", "repair_hours", "setup_hours", "debug_factor"};
    const char *seen[QUALITIES_MAX];
    size_t n = 0;
    for (size_t i = 0; i < plan->n_options && b->trains; i++) {
        const struct option *o = &plan->options[i];
        const char *tier = o->n_supply > 0 && o->supply[0].sku ? o->supply[0].sku->provider->tier : NULL;
        bool known = tier == NULL || n == QUALITIES_MAX;
        for (size_t k = 0; k < n && !known; k++)
            known = strcmp(seen[k], tier) == 0;
        if (known)
            continue;
        seen[n++] = tier;
        for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
            const char *name = arena_printf(b->arena, "tier_%s_%s", tier, figures[k]);
            if (!name || list_one(b, plan, name))
                return -1;
        }
    }
    return 0;
}

/* Of advice, purchase, hybrid, university and supplier quality: only what this plan rests on. */
static int list_followers(struct build *b, struct plan *plan)
{
    const unsigned flags = flags_of(b, plan);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((rows[i].when & flags) == rows[i].when && list_one(b, plan, rows[i].name))
            return -1;
    if (b->trains && (list_one(b, plan, launch_learning_rate_key(b->training.method)) ||
                      list_one(b, plan, "launch_checkpoints_per_job")))
        return -1;
    return list_tiers(b, plan);
}

int assumptions_list(struct build *b, struct plan *plan)
{
    const struct workload *w = b->workload;
    if (list_followers(b, plan) != 0)
        return -1;
    for (size_t i = 0; assume_name(i) != NULL; i++)
        if (list_one(b, plan, assume_name(i)) != 0)
            return -1;
    for (size_t i = 0; i < w->n_overrides; i++) {
        bool listed = false;
        for (size_t j = 0; j < plan->n_assumptions && !listed; j++)
            listed = strcmp(plan->assumptions[j].name, w->overrides[i].name) == 0;
        if (!listed && list_one(b, plan, w->overrides[i].name) != 0)
            return -1;
    }
    return 0;
}
