/* ownership.h — buying the machine against renting the same power for three years. Beside the options, never among
 * them.
 *
 * Owned:  purchase + hosting + power (at the utilisation) + maintenance + a share of an engineer - residual value.
 * Rented: the same card-hours at that utilisation: by the hour what is used, or every month in full, whichever is less.
 * Years paid ahead are another bargain: they are compared beside it, and stand in only where nothing else is sold.
 */
#ifndef SUANPAN_PLANNER_ADVICE_OWNERSHIP_H
#define SUANPAN_PLANNER_ADVICE_OWNERSHIP_H

#include "planner/core/plan.h"

/* Assumptions, in CNY where they are money. */
struct ownership_terms {
    double years, month_hours;
    double hosting_per_kw_month, power_per_kwh, pue, server_overhead_share, power_share_idle;
    double maintenance_share, staff_share, engineer_per_year, residual_share, utilisation;
    double dates_apart_days; /* from which a purchase price and a rent are of two markets */
    double card_watts;       /* of a card that states no rated power; not bound */
};

int ownership_terms_bind(const struct param_table *params, struct ownership_terms *ret, struct err *err);

/* What is rented instead, per card, minor units of the plan's currency; 0 = not sold that way. */
struct ownership_rent {
    double hour, month, year;
};

/* The three-year sums of `servers` servers at a utilisation (0..1), minor units of the plan's currency.
 * fx_micros: plan currency for one CNY. -1: overflow. */
int ownership_owned(const struct ownership_terms *t, const struct purchase_price *p, int servers, double utilisation,
                    int64_t fx_micros, int64_t *ret_minor);
double ownership_rented(const struct ownership_terms *t, const struct ownership_rent *rent, int cards,
                        double utilisation);
/* The same as years paid ahead; INFINITY where they are not sold. */
double ownership_prepaid(const struct ownership_terms *t, const struct ownership_rent *rent, int cards);
/* The utilisation from which owning is cheaper; NAN when it never is. */
double ownership_break_even(const struct ownership_terms *t, const struct ownership_rent *rent, int cards,
                            double owned_idle_minor, double owned_full_minor);
/* The utilisation beyond which it is dearer again: electricity still rises where full months no longer do. INFINITY:
 * none. Means nothing where owning is never cheaper. */
double ownership_dearer_again(const struct ownership_terms *t, const struct ownership_rent *rent, int cards,
                              double owned_idle_minor, double owned_full_minor);

#endif
