/* money.c — exact integer money: every product in 128 bits, one rounding, overflow refused. */
#include "base/money.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/decimal.h"

#define HOURS_MAX 1e9
/* Noise of double arithmetic that must not buy another hour: 744.0000000001 h is 744 h. */
#define MILLI_NOISE 1e-6
#define BP_WHOLE 10000
#define PRICE_STEP 100 /* micros in the fourth decimal */

/* a / b half away from zero without leaving 128 bits; most amounts fit in 64, where a division costs a tenth. */
static money_wide div_round(money_wide a, money_wide b)
{
    if (a >= 0 && a <= INT64_MAX && b > 0 && b <= INT64_MAX) {
        const uint64_t n = (uint64_t)a, by = (uint64_t)b, rest = n % by;
        return (money_wide)(n / by) + (rest >= by - rest);
    }
    money_wide q = a / b, r = a % b;
    if (r < 0)
        r = -r;
    if (r >= b - r)
        q += a < 0 ? -1 : 1;
    return q;
}

static int narrow(money_wide v, int64_t *ret)
{
    if (v > INT64_MAX || v < INT64_MIN)
        return -1;
    *ret = (int64_t)v;
    return 0;
}

int64_t money_div_round(money_wide a, int64_t b)
{
    money_wide q = div_round(a, b);
    return q > INT64_MAX ? INT64_MAX : q < INT64_MIN ? INT64_MIN : (int64_t)q;
}

int money_line(int64_t quantity_milli, int64_t unit_price_micros, int64_t *ret_minor)
{
    /* thousandths x millionths = 1e-9 of a unit; a minor unit is 1e7 of them */
    return narrow(
        div_round((money_wide)quantity_milli * unit_price_micros, (money_wide)1000 * MONEY_MICROS / MONEY_MINOR),
        ret_minor);
}

int money_tax(int64_t net_minor, int64_t rate_bp, int64_t *ret_minor)
{
    return narrow(div_round((money_wide)net_minor * rate_bp, BP_WHOLE), ret_minor);
}

int money_net_of_tax(int64_t gross_micros, int64_t rate_bp, int64_t *ret_net_micros)
{
    money_wide divisor = (money_wide)BP_WHOLE + rate_bp;
    if (divisor <= 0)
        return -1;
    return narrow(div_round((money_wide)gross_micros * BP_WHOLE, divisor), ret_net_micros);
}

int money_convert(int64_t price_micros, int64_t rate_micros, int64_t *ret_micros)
{
    return narrow(div_round((money_wide)price_micros * rate_micros, MONEY_MICROS), ret_micros);
}

int money_scale(int64_t price_micros, int64_t ppm, int64_t *ret_micros)
{
    money_wide steps = div_round((money_wide)price_micros * ppm, (money_wide)1000000 * PRICE_STEP);
    return narrow(steps * PRICE_STEP, ret_micros);
}

int money_add(int64_t a, int64_t b, int64_t *ret)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return -1;
    *ret = sum;
    return 0;
}

int hours_to_milli(double hours, int64_t granularity_milli, int64_t *ret_milli)
{
    if (!isfinite(hours) || hours < 0 || hours > HOURS_MAX || granularity_milli < 1)
        return -1;
    int64_t milli = (int64_t)ceil(hours * 1000.0 - MILLI_NOISE);
    if (milli < 0)
        milli = 0;
    const int64_t steps = milli / granularity_milli + (milli % granularity_milli > 0);
    return __builtin_mul_overflow(steps, granularity_milli, ret_milli) ? -1 : 0;
}

/* v / `unit`, a power of ten, in digits: at least two decimals, no zeros beyond them. */
static size_t amount_text(int64_t v, uint64_t unit, char out[MONEY_TEXT_MAX])
{
    char fraction[DECIMAL_DIGITS_MAX];
    const uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    size_t n = v < 0;
    out[0] = '-';
    n += decimal_digits(u / unit, out + n);
    size_t digits = decimal_digits(unit + u % unit, fraction); /* the one in front keeps the zeros behind it */
    while (digits > 3 && fraction[digits - 1] == '0')
        digits--;
    fraction[0] = '.';
    memcpy(out + n, fraction, digits);
    out[n + digits] = '\0';
    return n + digits;
}

size_t money_text(int64_t minor, char out[MONEY_TEXT_MAX])
{
    return amount_text(minor, MONEY_MINOR, out);
}

size_t money_price_text(int64_t micros, char out[MONEY_TEXT_MAX])
{
    return amount_text(micros, MONEY_MICROS, out);
}

static int parse_decimal(const char *text, int decimals, int64_t *ret)
{
    if (text == NULL)
        return -1;
    bool negative = *text == '-';
    if (negative)
        text++;
    money_wide v = 0;
    int seen = -1; /* decimals read; -1 before the point */
    if (*text < '0' || *text > '9')
        return -1;
    for (; *text != '\0'; text++) {
        if (*text == '.' && seen < 0) {
            seen = 0;
            if (text[1] == '\0')
                return -1;
            continue;
        }
        if (*text < '0' || *text > '9' || seen == decimals)
            return -1;
        v = v * 10 + (*text - '0');
        if (v > (money_wide)INT64_MAX + 1)
            return -1;
        if (seen >= 0)
            seen++;
    }
    for (int i = seen < 0 ? 0 : seen; i < decimals; i++)
        v *= 10;
    return narrow(negative ? -v : v, ret);
}

int money_parse_minor(const char *text, int64_t *ret_minor)
{
    return parse_decimal(text, 2, ret_minor);
}

int money_parse_micros(const char *text, int64_t *ret_micros)
{
    return parse_decimal(text, 6, ret_micros);
}
