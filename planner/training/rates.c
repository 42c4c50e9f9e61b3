/* rates.c — see rates.h. */
#include "planner/training/rates.h"

#include <math.h>

/* Beyond these, something else than power limits a card: the law is not stretched further. */
#define POWER_ROOM_MIN 0.25
#define POWER_ROOM_MAX 1.25
#define PEAK_MOST 0.90 /* of a peak that power does not limit */

/* 16-bit FLOP/s the tensor cores could do: cards sold for games sum in 32 bits at half of that. */
static double silicon_rate(const struct job *j)
{
    return fmax(j->peak16, j->gpu->int8_tops / 2 * 1e12);
}

/* Large products draw the most power: a card with more watts for each FLOP of its tensor cores than the reference of
 * its generation keeps a higher clock under them. A halved sum leaves power to spare, up to the peak it is sold with.
 */
static double large_product_share(const struct job *j)
{
    const struct training_constants *k = j->k;
    enum gpu_class c = j->gpu->gpu_class;
    double share = k->matmul[c], reference = k->watts_per_tflop[c];
    if (j->full_precision)
        return share;
    double silicon = silicon_rate(j);
    if (j->gpu->tdp_w > 0 && reference > 0) {
        double room = j->gpu->tdp_w / (silicon / 1e12) / reference;
        share *= pow(fmin(POWER_ROOM_MAX, fmax(POWER_ROOM_MIN, room)), k->power_exponent);
    }
    return fmin(PEAK_MOST, share * silicon / j->peak16);
}

/* Share of the tensor peak and the peak itself for wide products of this job's precision. */
static double product_rate_of(const struct job *j)
{
    const struct training_constants *k = j->k;
    double share16 = large_product_share(j) * (j->quantised ? k->quant_share[j->gpu->gpu_class] : 1);
    double rate16 = j->peak16 * share16;
    switch (j->precision) {
    case PREC_FP8: {
        double rate = j->peak * share16 * k->fp8_gain;
        if (j->eight_bit_plain)
            rate = fmax(rate * k->fp8_plain, rate16 * k->fp8_plain_floor);
        return j->training->fp8_mx ? rate * k->fp8_mx : rate;
    }
    case PREC_FP4:
        return j->peak * share16 * k->fp4_share;
    case PREC_TF32:
        return j->peak * k->tf32_share;
    case PREC_FP32:
        return j->peak * k->fp32_share;
    case PREC_UNSTATED:
    case PREC_BF16:
    case PREC_FP16:
        break;
    }
    return rate16;
}

/* Rate of products that stay in 16 bits whatever the job's precision (the output head). */
static double wide_rate_of(const struct job *j)
{
    return j->full_precision ? product_rate_of(j) : j->peak16 * large_product_share(j);
}

void rates_resolve(struct job *j)
{
    j->product_rate = product_rate_of(j);
    j->wide_rate = wide_rate_of(j);
}
