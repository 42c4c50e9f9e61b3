/* cover.h — machines over the days that need them as lines of a bill, paid in the cheapest way (tariff.h). */
#ifndef SUANPAN_PLANNER_COSTING_COVER_H
#define SUANPAN_PLANNER_COSTING_COVER_H

#include "planner/costing/bill.h"
#include "planner/costing/draft.h"
#include "planner/market/tariff.h"

/* What one rate is used for in one section. */
struct cover_use {
    bool any;
    enum phase_code first;
    int64_t permits, hours_milli; /* hours: of the permits' days, or paid by the hour */
};

/* One demand on one SKU on its way into a bill. */
struct cover {
    const struct offer *offer;
    const struct draft_step *steps; /* what the days' tags point into; NULL = all of it is the serve phase */
    struct bill *bill;
    struct rate rates[OFFER_RATES_MAX]; /* of one kind, nodes or cards */
    struct tariff tariff;
    int64_t permits[OFFER_RATES_MAX]; /* bought at each rate, of all sections */
    struct cover_use uses[OFFER_RATES_MAX][SECTION_COUNT];
    struct shares shares[OFFER_RATES_MAX][SECTION_COUNT]; /* touched only where the bill asks for them */
    struct tariff_cover cheapest;                         /* of the level at hand */
};

/* A demand has levels (so many units work on these days), each covered on its own; what the same rate pays is one line:
 * cover_start, cover_level for each, cover_end. `offer`, `steps` and `bill` must outlive the cover. */
void cover_start(struct cover *c, const struct offer *o, bool by_card, const struct draft_step *steps,
                 struct bill *bill);

/* `times` equal units that work on these days. -1: a day that no rate covers, or an amount past int64. */
int cover_level(struct cover *c, const struct tariff_run *runs, size_t n, int64_t times);

/* As cover_level, for `n` days from the first on that work alike, all of them the serve phase (c->steps = NULL); times
 * may be so many that the amounts leave int64 (-1). */
int cover_equal_days(struct cover *c, size_t n, int32_t hours_milli, int64_t times);

/* The lines, each divided over the steps where the bill has shares. -1: as bill_add. */
int cover_end(struct cover *c);

/* Rates of one kind, nodes or cards, in a row; space: OFFER_RATES_MAX of them. */
struct tariff cover_tariff(const struct offer *o, bool by_card, struct rate *space);

/* A permit belongs to the section that alone uses it, to compute where several do. */
enum section cover_permit_section(const struct draft_step *steps, const struct tariff_run *runs, size_t n,
                                  const struct tariff_part *permit);

/* A demand of one level. */
int cover_runs(const struct offer *o, bool by_card, const struct tariff_run *runs, size_t n, int64_t times,
               const struct draft_step *steps, struct bill *bill);

#endif
