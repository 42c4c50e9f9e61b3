/* decimal.h — figures in decimal digits: whole numbers, and doubles rounded exactly as printf rounds them, at a
 * twentieth of its price. */
#ifndef SUANPAN_BASE_DECIMAL_H
#define SUANPAN_BASE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#define DECIMAL_DIGITS_MAX 20
#define DECIMAL_PLACES_MAX 19
#define DECIMAL_NUMBER_MAX 32

/* Writes the digits of v, without an end of string; returns how many. What lies in `out` behind them is lost. */
size_t decimal_digits(uint64_t v, char out[DECIMAL_DIGITS_MAX]);

/* size x 10^places to the nearest whole number, the even one of two; exact. Wants 0 <= size, places <=
 * DECIMAL_PLACES_MAX and a result below 1e18. */
uint64_t decimal_scaled(double size, int places);

/* What printf writes with %.15g, but no sign on a zero; returns the length. */
size_t decimal_number(double v, char out[DECIMAL_NUMBER_MAX]);

#endif
