/* assume.c — binds the rows of assumptions_offers.csv. */
#include "planner/offers/assume.h"

#define ROW(member) PARAM_FIELD(struct assume, member, #member)

static const struct param_field FIELDS[] = {
    ROW(start_after_days), ROW(month_days), ROW(year_days), ROW(month_hours), ROW(horizon_days), ROW(validate_days),
    ROW(validate_days_min), ROW(validate_month_share), ROW(validate_budget_share), ROW(debug_share),
    ROW(develop_days_max), ROW(develop_hours_per_day), ROW(pilot_days), ROW(migrate_days), ROW(migrate_days_low),
    ROW(migrate_days_high), ROW(two_node_gate), ROW(step_pays_share), ROW(fabric_bound_share),
    ROW(reserve_requests_per_s), ROW(reserve_input_tokens), ROW(reserve_output_tokens), ROW(reserve_peak_factor),
    ROW(reserve_months), ROW(serving_utilisation_target), ROW(load_low), ROW(load_high), ROW(spot_last_mile_days),
    ROW(spot_restart_hours), ROW(spot_checkpoint_hours), ROW(spot_interruptions_per_h), ROW(price_stale_days),
    ROW(checkpoints_kept), ROW(checkpoint_bytes_per_param), ROW(wan_gbps), ROW(line_efficiency),
    ROW(cluster_default_gbps), ROW(contingency_share), ROW(team_max_nodes_none), ROW(team_max_nodes_single_node),
    ROW(team_max_nodes_slurm), ROW(team_max_nodes_kubernetes), ROW(team_max_nodes_expert), ROW(deadline_confidence),
    ROW(near_miss_factor), ROW(options_max), ROW(options_per_kind), ROW(max_nodes_considered),
    ROW(weight_cost_cheapest), ROW(weight_time_cheapest), ROW(weight_risk_cheapest), ROW(weight_cost_balanced),
    ROW(weight_time_balanced), ROW(weight_risk_balanced), ROW(weight_cost_fastest), ROW(weight_time_fastest),
    ROW(weight_risk_fastest), ROW(speed_low_measured), ROW(speed_high_measured), ROW(speed_low_calibrated),
    ROW(speed_high_calibrated), ROW(speed_low_analytic), ROW(speed_high_analytic), ROW(price_band_firm),
    ROW(price_band_illustrative), ROW(price_band_derived), ROW(price_band_per_month), ROW(failure_band),
    ROW(risk_weight_deadline), ROW(risk_weight_team), ROW(risk_weight_price), ROW(risk_weight_communication),
    ROW(risk_weight_spot), ROW(risk_weight_queue), ROW(speed_common_share),
    ROW(price_common_share), ROW(order_close_probability), ROW(run_overhead_factor), ROW(long_context_tokens),
};

int assume_bind(const struct param_table *params, struct assume *ret, struct err *err)
{
    return param_bind(params, FIELDS, sizeof FIELDS / sizeof *FIELDS, ret, err);
}

const char *assume_name(size_t i)
{
    return i < sizeof FIELDS / sizeof *FIELDS ? FIELDS[i].key : NULL;
}
