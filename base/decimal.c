/* decimal.c — eight digits at a time without a loop, and the one product that rounds a double without an error. Words
 * of digits hold the first one in their lowest byte. */
#include "base/decimal.h"

#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

#define EIGHT UINT64_C(100000000)

/* The eight digits of a number below 10^8 as values, a byte each, the first digit in the lowest byte: halves of four
 * digits, each split into pairs, each split into digits, all lanes of a word at once. The factors are 1/100 and 1/10 in
 * 20 and 10 bits, exact for lanes below 10000 and 100. */
static inline uint64_t eight_digits(uint32_t v)
{
    uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32;
    uint64_t upper = (x * 10486 >> 20) & UINT64_C(0x0000007F0000007F);
    x = upper | (x - upper * 100) << 16;
    upper = (x * 103 >> 10) & UINT64_C(0x000F000F000F000F);
    return upper | (x - upper * 10) << 8;
}

#define ZEROS UINT64_C(0x3030303030303030) /* makes digits of values */

static void put_word(char *out, uint64_t digits)
{
    digits = htole64(digits);
    memcpy(out, &digits, sizeof digits);
}

size_t decimal_digits(uint64_t v, char out[DECIMAL_DIGITS_MAX])
{
    if (v >= EIGHT) {
        size_t n = decimal_digits(v / EIGHT, out);
        put_word(out + n, eight_digits((uint32_t)(v % EIGHT)) | ZEROS);
        return n + 8;
    }
    const uint64_t digits = eight_digits((uint32_t)v);
    const int zeros = v > 0 ? __builtin_ctzll(digits) / 8 : 7; /* in front */
    put_word(out, (digits | ZEROS) >> 8 * zeros);
    return (size_t)(8 - zeros);
}

/* A double is m x 2^e, so size x 10^places is m x 5^places x 2^(e + places): a product below 2^98, then a shift. */
uint64_t decimal_scaled(double size, int places)
{
    static const uint64_t fives[DECIMAL_PLACES_MAX + 1] = {
        1,          5,           25,           125,          625,           3125,          15625,
        78125,      390625,      1953125,      9765625,      48828125,      244140625,     1220703125,
        6103515625, 30517578125, 152587890625, 762939453125, 3814697265625, 19073486328125};
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    int exponent = (int)(bits >> 52);
    uint64_t m = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent == 0)
        exponent = 1; /* no leading one */
    else
        m |= UINT64_C(1) << 52;
    const wide exact = (wide)m * fives[places];
    const int shift = 1075 - exponent - places;
    if (shift <= 0)
        return (uint64_t)(exact << -shift);
    if (shift > 120) /* of a product below 2^98 nothing is left */
        return 0;
    const uint64_t whole = (uint64_t)(exact >> shift);
    const wide half = (wide)1 << (shift - 1), rest = exact - ((wide)whole << shift);
    return whole + (rest > half || (rest == half && (whole & 1) != 0));
}

/* How many digits of a size in [1e-4, 1e14) stand before the point; zeros right behind it count negative. */
static int digits_before_point(double size)
{
    static const double tens[] = {1e-4, 1e-3, 1e-2, 1e-1, 1e0,  1e1,  1e2,  1e3,  1e4, 1e5,
                                  1e6,  1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14};
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    const int log2 = (int)(bits >> 52) - 1023;
    const int whole = ((log2 * 1233) >> 12) + 1; /* 1233 / 4096 is log10(2): this is right or one too few */
    return whole + (size >= tens[whole + 4]);
}

/* Of a size in [1e-4, 1e14) that is no whole number: its digits lie in one word of sixteen bytes, where a shift makes
 * room for the point. */
static size_t fraction_text(double size, char *out)
{
    const uint64_t carried = UINT64_C(1000000000000000);
    int whole = digits_before_point(size);
    uint64_t scaled = decimal_scaled(size, 15 - whole);
    if (scaled == carried) { /* 9.9999999999999999 is 10 */
        scaled /= 10;
        whole++;
    }
    scaled *= 10; /* a sixteenth digit, which is 0 */
    const uint64_t upper = eight_digits((uint32_t)(scaled / EIGHT)), lower = eight_digits((uint32_t)(scaled % EIGHT));
    const int n = lower > 0 ? 16 - __builtin_clzll(lower) / 8 : 8 - __builtin_clzll(upper) / 8;
    if (whole <= 0) {
        memcpy(out, "0.000000", 8);
        put_word(out + 2 - whole, upper | ZEROS);
        put_word(out + 10 - whole, lower | ZEROS);
        return (size_t)(2 - whole + n);
    }
    wide digits = (wide)(lower | ZEROS) << 64 | upper | ZEROS;
    if (n > whole) {
        const wide point = (wide)1 << 8 * whole;
        digits = (digits & (point - 1)) | point * '.' | (digits & ~(point - 1)) << 8;
    }
    put_word(out, (uint64_t)digits);
    put_word(out + 8, (uint64_t)(digits >> 64));
    return (size_t)(n > whole ? n + 1 : whole);
}

size_t decimal_number(double v, char out[DECIMAL_NUMBER_MAX])
{
    const double size = fabs(v);
    const int64_t whole = size < 1e15 ? (int64_t)size : -1;
    size_t n = v < 0;
    if (whole < 0 || ((double)whole != size && !(size >= 1e-4 && size < 1e14)))
        return (size_t)snprintf(out, DECIMAL_NUMBER_MAX, "%.15g", v);
    out[0] = '-';
    n += (double)whole == size ? decimal_digits((uint64_t)whole, out + n) : fraction_text(size, out + n);
    out[n] = '\0';
    return n;
}
