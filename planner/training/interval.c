/* interval.c — widths fitted on residuals of sources left out, so that they hold for what was not seen.
 *
 * Bands are half-widths in ln. A speed is over-predicted more often than under-predicted, so its interval lies a
 * little low.
 */
#include "planner/training/interval.h"

#include <math.h>

static struct interval around(double half_width, double shift)
{
    return (struct interval){exp(-half_width - shift), exp(half_width - shift)};
}

static bool well_evidenced(enum gpu_class c)
{
    return c == GPU_AMPERE || c == GPU_HOPPER || c == GPU_BLACKWELL || c == GPU_VOLTA || c == GPU_ADA ||
           c == GPU_AMPERE_GDDR;
}

enum confidence interval_confidence(const struct job *j, const struct reading *r)
{
    if (r != NULL && r->used)
        return CONF_MEASURED;
    return well_evidenced(j->gpu->gpu_class) && j->model->architecture_known ? CONF_CALIBRATED : CONF_ANALYTIC;
}

static double analytic_band(const struct job *j, const struct cut *c)
{
    const struct training_constants *k = j->k;
    double band = j->moe_layers > 0 ? k->band_moe : j->frozen ? k->band_adapter : k->band_dense;
    if (!well_evidenced(j->gpu->gpu_class))
        band += 2 * k->band_unknown;
    if (!j->model->architecture_known)
        band += k->band_unknown;
    /* Scripts that train whole models differ most: kernels, casts and recomputation are whatever they were left at. */
    if (c->stack == STACK_EAGER && !j->frozen)
        band += 2 * k->band_unknown;
    /* Who names no layout leaves recomputation and kernels open as well. */
    if (c->recompute_share > 0 && c->recompute_share < 1 && c->recompute == RECOMPUTE_SELECTIVE)
        band += k->band_unknown / 2;
    return band;
}

struct interval interval_speed(const struct job *j, const struct cut *c, const struct step *s, const struct reading *r,
                               double efficiency)
{
    const struct training_constants *k = j->k;
    (void)s;
    if (r == NULL || !r->used)
        return around(analytic_band(j, c), k->band_shift);
    if (r->same_shape)
        return around(k->band_measured, 0);
    /* The further modelled scaling is from perfect, the less is known of it. */
    double loss = fabs(log(fmax(1e-3, efficiency)));
    double band = loss < 0.03 ? k->band_scale_high : loss < 0.105 ? k->band_scale_mid : k->band_scale_low;
    return around(band, 0);
}

struct interval interval_memory(const struct job *j, const struct cut *c, const struct reading *r)
{
    const struct training_constants *k = j->k;
    if (r != NULL && r->memory_used)
        return around(k->band_measured, 0);
    double band = j->frozen ? k->band_memory_adapter : k->band_memory;
    if (!j->model->architecture_known)
        band += k->band_unknown;
    if (j->moe_layers > 0)
        band += k->band_unknown / 2;
    (void)c;
    return around(band, 0);
}
