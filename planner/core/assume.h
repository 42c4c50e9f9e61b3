/* assume.h — the numbers of the trade (docs/plans.md, docs/domain.md) that a plan is made with, bound by key.
 *
 * Rows: db/seed/assumptions_offers.csv. Bound once per plan after the request's overrides are in place, so that
 * every one of them is data, shown in the answer, and can be changed by the caller.
 */
#ifndef SUANPAN_PLANNER_CORE_ASSUME_H
#define SUANPAN_PLANNER_CORE_ASSUME_H

#include "base/err.h"
#include "planner/core/params.h"

struct assume { /* members have the names of their rows */
    double start_after_days, month_days, year_days, month_hours, horizon_days, validate_days, validate_days_min,
        validate_month_share, validate_budget_share, debug_share, develop_days_max, develop_hours_per_day, pilot_days,
        migrate_days, migrate_days_low, migrate_days_high, two_node_gate, step_pays_share, fabric_bound_share,
        reserve_requests_per_s, reserve_input_tokens, reserve_output_tokens, reserve_peak_factor, reserve_months,
        serving_utilisation_target, load_low, load_high, spot_last_mile_days, spot_restart_hours, spot_checkpoint_hours,
        spot_interruptions_per_h, price_stale_days, checkpoints_kept, checkpoint_bytes_per_param, wan_gbps,
        line_efficiency, cluster_default_gbps, contingency_share, team_max_nodes_none, team_max_nodes_single_node,
        team_max_nodes_slurm, team_max_nodes_kubernetes, team_max_nodes_expert, deadline_confidence, open_horizon_days,
        near_miss_factor, options_max, options_per_kind, plan_effort, max_nodes_considered, weight_cost_cheapest,
        weight_time_cheapest, weight_risk_cheapest, weight_cost_balanced, weight_time_balanced, weight_risk_balanced,
        weight_cost_fastest, weight_time_fastest, weight_risk_fastest, speed_low_measured, speed_high_measured,
        speed_low_calibrated, speed_high_calibrated, speed_low_analytic, speed_high_analytic, price_band_firm,
        price_band_illustrative, price_band_derived, price_band_per_month, failure_band, risk_weight_deadline,
        risk_weight_memory, risk_weight_team, risk_weight_price, risk_weight_communication, risk_weight_spot,
        risk_weight_queue, speed_common_share, price_common_share, order_close_probability, run_overhead_factor,
        long_context_tokens, port_gap, port_debug_factor, batch_utilisation, batch_switch_hours, host_memory_least_gb,
        host_memory_most_gb, search_share_cuda, search_share_other, load_beyond_band, expected_differs_share;
};

/* ERR_NOT_FOUND names the first missing row. */
int assume_bind(const struct param_table *params, struct assume *ret, struct err *err);

/* The rows by number, for the list of what an answer assumed; NULL past the last. */
const char *assume_name(size_t i);

#endif
