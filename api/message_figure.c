/* message_figure.c — figures as people write them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/message.h"
#include "base/decimal.h"

/* `scaled` with a point before its last `places` digits, and a comma before every third of the others; returns the end
 * of what it wrote. */
static char *put_figure(char *out, uint64_t scaled, size_t places, bool commas)
{
    char digits[DECIMAL_DIGITS_MAX];
    size_t n = decimal_digits(scaled, digits);
    if (n <= places) {
        *out++ = '0';
    } else {
        for (size_t i = 0, whole = n - places; i < whole; i++) {
            if (commas && i > 0 && (whole - i) % 3 == 0)
                *out++ = ',';
            *out++ = digits[i];
        }
    }
    if (places > 0) {
        *out++ = '.';
        for (size_t i = n; i < places; i++)
            *out++ = '0';
        size_t from = n > places ? n - places : 0;
        memcpy(out, digits + from, n - from);
        out += n - from;
    }
    *out = '\0';
    return out;
}

/* How many decimals a person wants to see of a figure of this size. */
static size_t places_of(double value, double size)
{
    if (value == floor(value) || size >= 1000)
        return 0;
    return size >= 100 ? 1 : size >= 1 ? 2 : size >= 0.01 ? 3 : 5;
}

void message_number(char out[MESSAGE_FIGURE_MAX], double value)
{
    static const double scales[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5};
    double size = fabs(value);
    if (!isfinite(value)) {
        memcpy(out, "-", 2);
        return;
    }
    if (size >= 1e15 || (size > 0 && size < 1e-4)) {
        (void)snprintf(out, MESSAGE_FIGURE_MAX, "%.3g", value);
        return;
    }
    size_t places = places_of(value, size);
    uint64_t scaled = (uint64_t)llround(size * scales[places]);
    for (; places > 0 && scaled % 10 == 0; places--)
        scaled /= 10;
    *out = '-';
    put_figure(out + (value < 0), scaled, places, true);
}

void message_money(char out[MESSAGE_FIGURE_MAX], enum language language, int64_t minor, const char *currency)
{
    static const char yuan[] = " 元";
    bool local = language == LANG_ZH_CN && strcmp(currency, "CNY") == 0;
    if (!local) {
        size_t n = strnlen(currency, MESSAGE_CURRENCY_MAX);
        memcpy(out, currency, n);
        out += n;
        *out++ = ' ';
    }
    *out = '-';
    out = put_figure(out + (minor < 0), minor < 0 ? 0 - (uint64_t)minor : (uint64_t)minor, 2, true);
    if (local)
        memcpy(out, yuan, sizeof yuan);
}

void message_percent(char out[MESSAGE_FIGURE_MAX], double share)
{
    double percent = share * 100, size = fabs(percent);
    if (!(size < 1e15)) {
        (void)snprintf(out, MESSAGE_FIGURE_MAX, isfinite(percent) ? "%.0f%%" : "-", percent);
        return;
    }
    size_t places = size < 10;
    uint64_t scaled = decimal_scaled(size, (int)places);
    if (places > 0 && scaled % 10 == 0) {
        scaled /= 10;
        places = 0;
    }
    *out = '-';
    memcpy(put_figure(out + (signbit(percent) != 0), scaled, places, false), "%", 2);
}
