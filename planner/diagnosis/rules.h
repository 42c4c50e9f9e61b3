/* rules.h — the rules of docs/domain.md section 4, each on its own. */
#ifndef SUANPAN_PLANNER_DIAGNOSIS_RULES_H
#define SUANPAN_PLANNER_DIAGNOSIS_RULES_H

#include "planner/diagnosis/diagnosis.h"

/* Rows "diagnosis_..." of the assumptions. */
struct thresholds {
    double memory_full_share, low_utilisation_pct, high_utilisation_pct, idle_utilisation_pct;
    double power_low_share, power_near_limit_share, bandwidth_saturated_pct;
    double iteration_cv, min_iterations, communication_share, data_wait_share;
    double workload_memory_mib, recoverable_share, straggler_share;
};

int thresholds_bind(const struct param_table *params, struct thresholds *ret, struct err *err);

/* Why a verdict: the figure it turned on. */
struct reason {
    enum verdict verdict;
    const char *code; /* of an insufficient one: what is missing ("idle_machine"); else the verdict's name */
    const char *metric;
    double value, threshold;
    bool stated; /* by a workload that brings a verdict along: a figure that is missing was seen by the diagnosis */
};

double card_memory_share(const struct card_reading *r);
double card_power_share(const struct card_reading *r); /* of its limit, else of the model's */
bool card_is_idle(const struct card_reading *r, const struct thresholds *t);

struct reason judge_card(const struct card_reading *r, const struct thresholds *t);
/* All cards together (machine.c); `cards` is not empty. */
struct reason judge_machine(const struct card_list *cards, const struct thresholds *t);
/* What single cards say beside the verdict: another one, that they lag behind, that they are idle or of several models.
 */
void card_findings_add(struct diagnosis *d, const struct thresholds *t);
struct reason judge_iterations(const struct iteration_stats *s, const struct thresholds *t);
struct reason judge_variation(double cv, const struct thresholds *t);
struct reason judge_communication(double share, const struct thresholds *t);
struct reason judge_stated(const struct measured *m, const struct thresholds *t);
struct reason judge_topology(const struct topology *topology);

/* The words of a driver that has lost a card or does not answer; NULL when there are none. */
const char *hint_fault(const char *text);
/* Remarks on what a log complains of; `log` may be NULL. */
void hints_add(struct diagnosis *d, const char *log);

/* The measured block of a diagnosis: what was read of the job, none of what says nothing of it (idle cards, slices of a
 * card, a rate of nobody knows which card). */
void measured_fill(struct diagnosis *d, const struct thresholds *t, const struct card_reading *unknown);

/* Appends what a reason says; card -1 = all. Returns its note, to hang more figures on. */
struct note *finding_add(struct diagnosis *d, const struct reason *why, int card);
/* A remark that speaks for no verdict. */
struct note *remark_add(struct diagnosis *d, const char *code, const char *metric, double value);

#endif
