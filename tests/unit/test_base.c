/* test_base.c — money to the fen, dates, checksums, memory that ends where it was told to. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/date.h"
#include "base/decimal.h"
#include "base/embed.h"
#include "base/err.h"
#include "base/fault.h"
#include "base/money.h"
#include "base/sha256.h"

#define N(a) (sizeof(a) / sizeof *(a))

Test(money, one_rounding_half_away_from_zero)
{
    static const struct {
        int64_t quantity_milli, price_micros, minor;
    } cases[] = {
        {1000, 12340000, 1234},
        {1000, 5000, 1}, /* half a fen up */
        {1000, 4999, 0},
        {-1000, 5000, -1}, /* and away from zero below it */
        {-1000, 4999, 0},
        {1500, 1000000, 150},
        {1, 10000000, 1},
        {333, 1000000, 33},
        {335, 1000000, 34},
        {744000, 15500000, 1153200},
        {0, INT64_MAX, 0},
        {1000, INT64_MAX, 922337203685478},
        {8760000, 123456789, 108148147},
    };
    for (size_t i = 0; i < N(cases); i++) {
        int64_t minor = -77;
        cr_assert_eq(money_line(cases[i].quantity_milli, cases[i].price_micros, &minor), 0);
        cr_expect_eq(minor, cases[i].minor, "case %zu: %ld, not %ld", i, (long)minor, (long)cases[i].minor);
    }
    int64_t kept = 42;
    cr_expect_eq(money_line(INT64_MAX, INT64_MAX, &kept), -1);
    cr_expect_eq(money_line(INT64_MIN, INT64_MAX, &kept), -1);
    cr_expect_eq(kept, 42, "a failure writes nothing");
}

Test(money, division_rounds_half_away_from_zero)
{
    static const struct {
        int64_t a, b, q;
    } cases[] = {{7, 2, 4},
                 {-7, 2, -4},
                 {5, 3, 2},
                 {-5, 3, -2},
                 {4, 3, 1},
                 {-4, 3, -1},
                 {0, 9, 0},
                 {1, 2, 1},
                 {INT64_MAX, 1, INT64_MAX},
                 {INT64_MIN, 1, INT64_MIN},
                 {INT64_MAX, INT64_MAX, 1}};
    for (size_t i = 0; i < N(cases); i++)
        cr_expect_eq(money_div_round(cases[i].a, cases[i].b), cases[i].q, "case %zu", i);
}

Test(money, tax_conversion_and_discount)
{
    int64_t v;
    cr_assert_eq(money_tax(1234567, 600, &v), 0);
    cr_expect_eq(v, 74074);
    cr_assert_eq(money_tax(25, 600, &v), 0);
    cr_expect_eq(v, 2, "1.5 fen of tax is 2");
    cr_assert_eq(money_net_of_tax(106000000, 600, &v), 0);
    cr_expect_eq(v, 100000000);
    cr_assert_eq(money_net_of_tax(100000000, 600, &v), 0);
    cr_expect_eq(v, 94339623);
    cr_expect_eq(money_net_of_tax(1, -10000, &v), -1);
    cr_assert_eq(money_convert(2500000, 7123456, &v), 0);
    cr_expect_eq(v, 17808640);
    cr_expect_eq(money_convert(INT64_MAX, INT64_MAX, &v), -1);
    cr_assert_eq(money_scale(12345678, 800000, &v), 0);
    cr_expect_eq(v, 9876500, "a discounted price has four decimals");
    cr_expect_eq(money_scale(INT64_MAX, 2000000, &v), -1);
    cr_expect_eq(money_add(INT64_MAX, 1, &v), -1);
    cr_expect_eq(money_add(INT64_MIN, -1, &v), -1);
    cr_assert_eq(money_add(3, -5, &v), 0);
    cr_expect_eq(v, -2);
}

Test(money, hours_are_rounded_up_to_what_is_billed)
{
    static const struct {
        double hours;
        int64_t granularity, milli;
    } cases[] = {
        {1.0, 1000, 1000}, {1.0001, 1000, 2000},       {744.0000000001, 1000, 744000},
        {0.0, 1000, 0},    {0.2501, 1, 251},           {0.25, 1, 250},
        {1.5, 250, 1500},  {1e9, 1000, 1000000000000}, {0.1 + 0.2, 100, 300},
    };
    for (size_t i = 0; i < N(cases); i++) {
        int64_t milli = -1;
        cr_assert_eq(hours_to_milli(cases[i].hours, cases[i].granularity, &milli), 0);
        cr_expect_eq(milli, cases[i].milli, "case %zu: %ld", i, (long)milli);
    }
    static const double bad[] = {NAN, INFINITY, -1.0, 1.1e9};
    int64_t kept = 42;
    for (size_t i = 0; i < N(bad); i++)
        cr_expect_eq(hours_to_milli(bad[i], 1000, &kept), -1, "%g", bad[i]);
    cr_expect_eq(hours_to_milli(1, 0, &kept), -1);
    cr_expect_eq(kept, 42);
}

Test(money, text_both_ways)
{
    static const struct {
        const char *text;
        int64_t minor;
    } minors[] = {{"0.00", 0},
                  {"-0.01", -1},
                  {"1234.50", 123450},
                  {"-1234.50", -123450},
                  {"92233720368547758.07", INT64_MAX},
                  {"-92233720368547758.08", INT64_MIN}};
    char out[MONEY_TEXT_MAX];
    for (size_t i = 0; i < N(minors); i++) {
        money_text(minors[i].minor, out);
        cr_expect_str_eq(out, minors[i].text);
        int64_t back = 0;
        cr_assert_eq(money_parse_minor(minors[i].text, &back), 0);
        cr_expect_eq(back, minors[i].minor);
    }
    static const struct {
        const char *text;
        int64_t micros;
    } prices[] = {
        {"12.34", 12340000}, {"12.3456", 12345600}, {"0.000001", 1}, {"-7.00", -7000000}, {"15.50", 15500000}};
    for (size_t i = 0; i < N(prices); i++) {
        money_price_text(prices[i].micros, out);
        cr_expect_str_eq(out, prices[i].text);
        int64_t back = 0;
        cr_assert_eq(money_parse_micros(prices[i].text, &back), 0);
        cr_expect_eq(back, prices[i].micros);
    }
    static const char *const bad[] = {"",
                                      "-",
                                      ".",
                                      "1.",
                                      ".5",
                                      "+1",
                                      "1,000",
                                      "1e3",
                                      "1.234",
                                      " 1",
                                      "1 ",
                                      "0x1",
                                      "--1",
                                      "1.2.3",
                                      "92233720368547758.08",
                                      "999999999999999999999999999999"};
    int64_t kept = 42;
    for (size_t i = 0; i < N(bad); i++)
        cr_expect_eq(money_parse_minor(bad[i], &kept), -1, "'%s'", bad[i]);
    cr_expect_eq(money_parse_minor(NULL, &kept), -1);
    cr_expect_eq(kept, 42);
}

Test(date, every_day_of_the_calendar_both_ways)
{
    int y = 0, m = 0, d = 0, days = 0;
    for (date_t day = date_from_civil(1970, 1, 1); day <= date_from_civil(2199, 12, 31); day++, days++) {
        char text[DATE_TEXT_MAX];
        date_t back;
        date_text(day, text);
        cr_assert_eq(date_parse(text, &back), 0, "%s", text);
        cr_assert_eq(back, day, "%s", text);
        cr_assert_eq(date_weekday(day), (days + 3) % 7, "%s", text);
    }
    cr_expect_eq(days, 84006);
    cr_expect_eq(date_from_civil(1970, 1, 1), 0);
    cr_expect_eq(date_weekday(date_from_civil(2026, 11, 30)), 0, "a Monday");
    date_to_civil(date_from_civil(2000, 2, 29), &y, &m, &d);
    cr_expect(y == 2000 && m == 2 && d == 29);
    date_to_civil(-1, &y, &m, &d);
    cr_expect(y == 1969 && m == 12 && d == 31);
}

Test(date, refuses_what_is_no_day)
{
    static const char *const bad[] = {"",           "2026",       "2026-1-01",   "2026-13-01",  "2026-00-10",
                                      "2026-02-29", "2100-02-29", "2026-04-31",  "2026-01-00",  "1969-12-31",
                                      "2200-01-01", "2026/01/01", "2026-01-01 ", " 2026-01-01", "2026-01-01T00:00",
                                      "-026-01-01", "2026-0a-01"};
    date_t kept = 42;
    for (size_t i = 0; i < N(bad); i++)
        cr_expect_eq(date_parse(bad[i], &kept), -1, "'%s'", bad[i]);
    cr_expect_eq(date_parse(NULL, &kept), -1);
    cr_expect_eq(kept, 42);
    char text[DATE_TEXT_MAX];
    date_text(DATE_NONE, text);
    cr_expect_str_eq(text, "none");
}

Test(date, the_civil_day_is_shanghais)
{
    cr_expect_eq(date_from_unix(0), 0);
    cr_expect_eq(date_from_unix(16 * 3600 - 1), 0);
    cr_expect_eq(date_from_unix(16 * 3600), 1, "16:00 UTC is midnight in Hefei");
    cr_expect_eq(date_from_unix(-8 * 3600 - 1), -1);
    cr_expect_eq(date_from_unix(INT64_MAX), DATE_NONE);
    cr_expect_eq(date_from_unix(INT64_MIN), DATE_NONE);
}

Test(sha256, published_vectors)
{
    static const struct {
        const char *text, *hex;
    } cases[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    char hex[SHA256_HEX];
    for (size_t i = 0; i < N(cases); i++) {
        sha256_hex(cases[i].text, strlen(cases[i].text), hex);
        cr_expect_str_eq(hex, cases[i].hex);
    }
    /* a million 'a', fed in pieces of every length up to 129 */
    struct sha256 s;
    unsigned char digest[SHA256_BYTES];
    char a[129];
    memset(a, 'a', sizeof a);
    sha256_init(&s);
    for (size_t left = 1000000, n = 0; left > 0; left -= n) {
        n = (left * 7 + 13) % sizeof a + 1;
        n = n < left ? n : left;
        sha256_add(&s, a, n);
    }
    sha256_end(&s, digest);
    static const unsigned char million[4] = {0xcd, 0xc7, 0x6e, 0x5c};
    cr_expect_arr_eq(digest, million, 4);
    cr_expect_eq(digest[31], 0xd0);
}

Test(arena, gives_zeroed_memory_up_to_its_cap_and_remembers)
{
    struct arena *a = arena_new(100000);
    unsigned char *p = arena_alloc(a, 1000);
    cr_assert_not_null(p);
    for (size_t i = 0; i < 1000; i++)
        cr_assert_eq(p[i], 0);
    memset(p, 0xff, 1000);
    cr_expect_eq((uintptr_t)arena_alloc(a, 1) % _Alignof(max_align_t), 0u);
    cr_expect_eq((uintptr_t)arena_alloc(a, 3) % _Alignof(max_align_t), 0u);
    char *big = arena_alloc(a, 50000);
    cr_assert_not_null(big);
    memset(big, 1, 50000);
    cr_expect_str_eq(arena_printf(a, "%s-%d", "x", 42), "x-42");
    cr_expect_str_eq(arena_strndup(a, "abcdef", 3), "abc");
    cr_expect_null(arena_strdup(a, NULL));
    cr_expect_not(arena_failed(a));
    size_t used = arena_used(a);
    cr_expect_null(arena_alloc(a, 60000));
    cr_expect(arena_failed(a));
    cr_expect_eq(arena_used(a), used, "a refusal takes nothing");
    cr_expect_not_null(arena_alloc(a, 16), "and the rest is still there");
    cr_expect_null(arena_array(a, SIZE_MAX / 2, 4), "overflow");
    cr_expect_null(arena_alloc(a, SIZE_MAX), "overflow");
    arena_free(a);
    arena_free(NULL);
}

Test(arena, lists_grow_and_keep_what_they_hold)
{
    struct arena *a = arena_new(1 << 20);
    struct {
        int *items;
        size_t n, cap;
    } list = {0};
    for (int i = 0; i < 5000; i++) {
        int *slot = arena_push(a, &list);
        cr_assert_not_null(slot);
        cr_assert_eq(*slot, 0);
        *slot = i;
    }
    for (int i = 0; i < 5000; i++)
        cr_assert_eq(list.items[i], i);
    arena_free(a);
    a = arena_new(256);
    list.items = NULL;
    list.n = list.cap = 0;
    size_t pushed = 0;
    while (arena_push(a, &list) != NULL)
        pushed++;
    cr_expect_eq(pushed, list.n);
    cr_expect(arena_failed(a));
    arena_free(a);
}

Test(buf, grows_to_its_maximum_and_errors_stick)
{
    struct buf b;
    buf_init(&b, 10);
    buf_adds(&b, "12345");
    buf_addf(&b, "%d", 678);
    buf_addc(&b, '9');
    buf_addc(&b, '0');
    cr_expect_not(buf_failed(&b));
    cr_expect_str_eq(b.data, "1234567890");
    buf_addc(&b, 'x');
    cr_expect(buf_failed(&b));
    buf_add(&b, "", 0);
    cr_expect_null(buf_take(&b, NULL));
    buf_init(&b, 100000);
    for (int i = 0; i < 10000; i++)
        buf_addf(&b, "%04d ", i);
    size_t len = 0;
    char *text = buf_take(&b, &len);
    cr_assert_not_null(text);
    cr_expect_eq(len, 50000u);
    cr_expect_eq(strncmp(text + 49995, "9999 ", 5), 0);
    free(text);
    char *empty = buf_take(&b, &len);
    cr_expect_str_eq(empty, "");
    cr_expect_eq(len, 0u);
    free(empty);
    buf_done(&b);
}

/* What is put together in place obeys the same maximum. */
Test(buf, room_may_reach_past_the_maximum_but_not_what_is_written)
{
    struct buf b;
    buf_init(&b, 5);
    char *to = buf_room(&b, 40);
    cr_assert_not_null(to);
    memcpy(to, "abcdefgh", 8);
    buf_wrote(&b, to + 4);
    cr_expect_str_eq(b.data, "abcd");
    to = buf_room(&b, 2);
    memcpy(to, "xy", 2);
    buf_wrote(&b, to + 2);
    cr_expect(buf_failed(&b));
    cr_expect_str_eq(b.data, "abcd");
    cr_expect_null(buf_room(&b, 1));
    buf_done(&b);
}

static uint64_t any(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* A double of a kind that has gone wrong somewhere: any bits, few decimals, ties, neighbours of powers of ten. */
static double awkward(uint64_t *seed, int kind)
{
    double v = pow(10, (int)(any(seed) % 21) - 5);
    switch (kind) {
    case 0: {
        const uint64_t bits = (1023 - 20 + any(seed) % 75) << 52 | any(seed) >> 12;
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    case 1:
        return (double)(any(seed) % 100000000) / pow(10, (double)(any(seed) % 9));
    case 2:
        return -(double)(any(seed) % UINT64_C(2000000000000000)) / (double)(1u << any(seed) % 10);
    default:
        for (uint64_t steps = any(seed) % 7; steps > 0; steps--)
            v = nextafter(v, kind == 3 ? INFINITY : 0);
        return v;
    }
}

Test(decimal, numbers_are_digit_for_digit_what_printf_writes)
{
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 500000; i++) {
        double v = awkward(&seed, i % 5);
        bool whole = v == floor(v) && fabs(v) < 1e15;
        char mine[DECIMAL_NUMBER_MAX], printed[40];
        size_t n = decimal_number(v, mine);
        snprintf(printed, sizeof printed, whole ? "%.0f" : "%.15g", v == 0 ? 0.0 : v);
        cr_assert_str_eq(mine, printed, "%.17g: %s, not %s", v, mine, printed);
        cr_assert_eq(n, strlen(printed));
    }
}

Test(decimal, scaling_rounds_as_printf_rounds)
{
    uint64_t seed = 2463534242u;
    for (int i = 0; i < 500000; i++) {
        double size = fabs(awkward(&seed, i % 5));
        int places = (int)(any(&seed) % 4);
        char printed[40], digits[DECIMAL_DIGITS_MAX + 1], *to = printed;
        if (size >= 1e14)
            continue;
        snprintf(printed, sizeof printed, "%.*f", places, size);
        for (const char *p = printed; *p; p++)
            if (*p != '.')
                *to++ = *p;
        *to = '\0';
        uint64_t scaled = decimal_scaled(size, places);
        cr_assert_eq(scaled, strtoull(printed, NULL, 10), "%.17g with %d decimals: %s", size, places, printed);
        digits[decimal_digits(scaled, digits)] = '\0';
        to = printed + strspn(printed, "0");
        cr_assert_str_eq(digits, *to ? to : "0");
    }
    char most[DECIMAL_DIGITS_MAX + 1];
    most[decimal_digits(UINT64_MAX, most)] = '\0';
    cr_expect_str_eq(most, "18446744073709551615");
    cr_expect_eq(decimal_scaled(5e-324, 19), 0u);
}

Test(err, names_codes_and_cuts_long_texts)
{
    struct err e = {0};
    cr_expect_eq(err_at(&e, ERR_RANGE, "/a/b", "%s is %d", "x", 5), -1);
    cr_expect_eq(e.code, ERR_RANGE);
    cr_expect_str_eq(e.detail, "x is 5");
    cr_expect_str_eq(e.pointer, "/a/b");
    char longer[1000];
    memset(longer, 'p', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    err_at(&e, ERR_IO, longer, "%s", longer);
    cr_expect_eq(strlen(e.detail), sizeof e.detail - 1);
    cr_expect_eq(strlen(e.pointer), sizeof e.pointer - 1);
    cr_expect_eq(err_set(NULL, ERR_IO, "nobody listens"), -1);
    for (int c = ERR_NONE; c <= ERR_INTERNAL; c++)
        cr_expect_str_neq(err_name((enum err_code)c), "unknown");
}

Test(fault, keeps_the_first_and_counts_the_rest)
{
    static struct fault_list list;
    for (int i = 0; i < FAULTS_MAX + 5; i++)
        fault_add(&list, "/x", "out_of_range", "number %d", i);
    cr_expect_eq(list.n, (size_t)FAULTS_MAX);
    cr_expect_eq(list.dropped, 5u);
    cr_expect_str_eq(list.items[7].detail, "number 7");
}

Test(embed, finds_by_name)
{
    static const unsigned char bytes[] = "x";
    static const struct embed_file files[] = {{"a", bytes, 1}, {"b/c.sql", bytes, 1}, {"d", bytes, 1}};
    const struct embed_table t = {files, N(files)};
    cr_expect_eq(embed_find(&t, "b/c.sql"), &files[1]);
    cr_expect_null(embed_find(&t, "b"));
    cr_expect_null(embed_find(&(struct embed_table){0}, "a"));
}
