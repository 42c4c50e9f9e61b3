/* weights.c — what cost, time and risk weigh under each priority. */
#include "planner/offers/candidate.h"

void candidate_weights(const struct build *b, double *ret_cost, double *ret_time, double *ret_risk)
{
    const struct assume *a = &b->a;
    switch (b->workload->priority) {
    case PRIORITY_CHEAPEST:
        *ret_cost = a->weight_cost_cheapest;
        *ret_time = a->weight_time_cheapest;
        *ret_risk = a->weight_risk_cheapest;
        return;
    case PRIORITY_FASTEST:
        *ret_cost = a->weight_cost_fastest;
        *ret_time = a->weight_time_fastest;
        *ret_risk = a->weight_risk_fastest;
        return;
    case PRIORITY_UNSTATED:
    case PRIORITY_BALANCED:
        break;
    }
    *ret_cost = a->weight_cost_balanced;
    *ret_time = a->weight_time_balanced;
    *ret_risk = a->weight_risk_balanced;
}
