/* money.h — sums that are right to the fen.
 *
 * Two integer scales, never a double:
 *   micros  1e-6 of a currency unit: list prices exactly as quoted, FX rates (units of quote per unit of base).
 *   minor   1/100 of a currency unit (fen, cents): every amount, every printed line, every total.
 * One rounding a line, half away from zero, in __int128. Totals are sums of the printed lines.
 * The single seam to physics is hours_to_milli: hours (double) -> milli-hours, rounded up.
 */
#ifndef SUANPAN_BASE_MONEY_H
#define SUANPAN_BASE_MONEY_H

#include <stddef.h>
#include <stdint.h>

#define MONEY_MICROS 1000000
#define MONEY_MINOR 100
#define MONEY_TEXT_MAX 32

/* A product of two 64-bit figures before it is rounded. */
__extension__ typedef __int128 money_wide;

struct money {
    int64_t minor;
    char currency[4]; /* ISO 4217 */
};

/* a / b to the nearest integer, half away from zero. b > 0. */
int64_t money_div_round(money_wide a, int64_t b);
/* a x b / 1000, towards zero: thousandths of thousandths. */
static inline money_wide money_thousandth(int64_t a, int64_t b)
{
    int64_t product; /* nearly always fits, and a division of 128 bits costs ten times as much */
    return __builtin_mul_overflow(a, b, &product) ? (money_wide)a * b / 1000 : product / 1000;
}


/* quantity (in thousandths of its unit) x unit price (micros) -> minor units, one rounding.
 * -1 when the result leaves int64 (nothing is written). */
int money_line(int64_t quantity_milli, int64_t unit_price_micros, int64_t *ret_minor);

/* net minor x rate in basis points (600 = 6 %) -> tax minor, one rounding. */
int money_tax(int64_t net_minor, int64_t rate_bp, int64_t *ret_minor);

/* A price quoted with tax included, split: net = round(gross / (1 + rate)), in micros. */
int money_net_of_tax(int64_t gross_micros, int64_t rate_bp, int64_t *ret_net_micros);

/* price micros x FX rate micros -> price micros in the other currency, one rounding. */
int money_convert(int64_t price_micros, int64_t rate_micros, int64_t *ret_micros);

/* price micros x factor in parts per million (a discount of 20 % is 800000), rounded to 4 decimals of the unit,
 * so that a printed line can be recomputed by hand. */
int money_scale(int64_t price_micros, int64_t ppm, int64_t *ret_micros);

int money_add(int64_t a, int64_t b, int64_t *ret);

/* Hours as milli-hours, rounded up to `granularity_milli` (1000 = whole hours). -1 when not finite or over 1e9 h. */
int hours_to_milli(double hours, int64_t granularity_milli, int64_t *ret_milli);

/* "-1234.50" from minor units; 4-decimal unit price "12.3400" trimmed to at least 2 decimals from micros.
 * Both return the length. */
size_t money_text(int64_t minor, char out[MONEY_TEXT_MAX]);
size_t money_price_text(int64_t micros, char out[MONEY_TEXT_MAX]);

/* Decimal text -> minor (at most 2 decimals) or micros (at most 6). Only [-]digits[.digits]; no exponent, no
 * grouping, no leading '+'. -1 on anything else or overflow. */
int money_parse_minor(const char *text, int64_t *ret_minor);
int money_parse_micros(const char *text, int64_t *ret_micros);

#endif
