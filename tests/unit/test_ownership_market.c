/* own_hardware over the shipped catalog: the table of docs/ownership.md, card by card, is what the seed says. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "planner/advice/ownership.h"
#include "planner/core/names.h"
#include "planner/core/params.h"
#include "tests/support/test_catalog.h"

#define DAY date_from_civil(2026, 12, 1)

enum level { OPEN_MARKET, THREE_CITIES };

struct quoted {
    struct ownership_rent rent; /* fen a card */
    date_t month_on, hour_on;
};

static bool of_level(const struct sku *s, const struct price *p, enum level level)
{
    const struct provider *v = s->provider;
    if (level == THREE_CITIES)
        return v->kind == PROVIDER_LOCAL_IDC &&
               (strcmp(v->city, "hefei") == 0 || strcmp(v->city, "shenzhen") == 0 || strcmp(v->city, "wuhan") == 0);
    return !v->abroad &&
           (v->kind == PROVIDER_LOCAL_IDC || v->kind == PROVIDER_PUBLIC_CLOUD || v->kind == PROVIDER_MARKETPLACE) &&
           p->state != PRICE_DERIVED && strncmp(p->source, "trade guides", 12) != 0;
}

/* The cheapest month and hour of a card: fen. */
static struct quoted quotes_of(const struct catalog *c, const struct gpu *gpu, enum level level)
{
    struct quoted q = {0};
    for (size_t i = 0; i < c->n_skus; i++) {
        const struct sku *s = &c->skus[i];
        if (s->gpu != gpu)
            continue;
        for (int month = 0; month < 2; month++) {
            const struct price *p = catalog_sku_price(c, s, month ? MODE_MONTHLY : MODE_HOURLY, "", DAY);
            if (!p || p->micros == 0 || !of_level(s, p, level))
                continue;
            const bool node = p->unit == UNIT_NODE_HOUR || p->unit == UNIT_NODE_MONTH;
            const double card = (double)p->micros / 1e4 / (node ? s->gpus_per_node : 1);
            double *least = month ? &q.rent.month : &q.rent.hour;
            if (*least <= 0 || card < *least) {
                *least = card;
                *(month ? &q.month_on : &q.hour_on) = p->observed_on;
            }
        }
    }
    return q;
}

static const struct purchase_price *newest_of(const struct catalog *c, const struct gpu *gpu)
{
    const struct purchase_price *newest = NULL;
    for (size_t i = 0; i < c->n_purchases; i++)
        if (c->purchases[i].gpu == gpu && (!newest || c->purchases[i].observed_on > newest->observed_on))
            newest = &c->purchases[i];
    return newest;
}

static struct ownership_terms terms_for(const struct catalog *c, const struct gpu *gpu)
{
    struct ownership_terms t;
    struct err err = {0};
    char key[64];
    cr_assert_eq(ownership_terms_bind(&c->params, &t, &err), 0, "%s", err.detail);
    snprintf(key, sizeof key, "train.watts_per_tflop/%s", gpu_class_name(gpu->gpu_class));
    const struct param *p = param_find(&c->params, key);
    t.card_watts = p ? p->value * fmax(gpu->bf16_tflops, gpu->fp16_tflops) : 0;
    return t;
}

struct compared {
    double start_up, full, turn, again;
};

static struct compared compare(const struct ownership_terms *t, const struct purchase_price *p,
                               const struct ownership_rent *rent)
{
    int64_t at_start, idle, full;
    cr_assert_eq(ownership_owned(t, p, 1, t->utilisation, 1000000, &at_start), 0);
    cr_assert_eq(ownership_owned(t, p, 1, 0, 1000000, &idle), 0);
    cr_assert_eq(ownership_owned(t, p, 1, 1, 1000000, &full), 0);
    const int n = p->gpus_per_server;
    return (struct compared){(double)at_start / ownership_rented(t, rent, n, t->utilisation),
                             (double)full / ownership_rented(t, rent, n, 1),
                             ownership_break_even(t, rent, n, (double)idle, (double)full),
                             ownership_dearer_again(t, rent, n, (double)idle, (double)full)};
}

/* "25,000" of 25000. */
static const char *grouped(double yuan, char out[32])
{
    char digits[24];
    const int n = snprintf(digits, sizeof digits, "%.0f", yuan);
    int at = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

static int month_text(date_t d, char *out, size_t size)
{
    int y, m, day;
    date_to_civil(d, &y, &m, &day);
    return snprintf(out, size, "%04d-%02d", y, m);
}

/* "25,000 (2026-10) | 1.65 | 1.72 | never" */
static void side(const struct ownership_terms *t, const struct purchase_price *p, const struct quoted *q, char *out,
                 size_t size)
{
    char money[32], on[16], turn[16];
    if (q->rent.month <= 0 && q->rent.hour <= 0) {
        snprintf(out, size, "– | – | – | –");
        return;
    }
    const struct compared r = compare(t, p, &q->rent);
    if (isnan(r.turn))
        snprintf(turn, sizeof turn, "never");
    else if (r.again < 1)
        snprintf(turn, sizeof turn, "%.0f to %.0f %%", 100 * r.turn, 100 * r.again);
    else if (r.turn <= 0)
        snprintf(turn, sizeof turn, "always");
    else
        snprintf(turn, sizeof turn, "%.0f %%", 100 * r.turn);
    month_text(q->rent.month > 0 ? q->month_on : q->hour_on, on, sizeof on);
    if (q->rent.month > 0)
        snprintf(out, size, "%s (%s) | %.2f | %.2f | %s", grouped(q->rent.month * p->gpus_per_server / 100, money), on,
                 r.start_up, r.full, turn);
    else
        snprintf(out, size, "%.2f an hour (%s) | %.2f | %.2f | %s", q->rent.hour / 100, on, r.start_up, r.full, turn);
}

static char *page(void)
{
    FILE *f = fopen("docs/ownership.md", "rb");
    cr_assert_not_null(f, "docs/ownership.md");
    static char text[65536];
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

Test(ownership_market, table_of_the_docs_follows_the_seed)
{
    const struct catalog *c = test_catalog_bound();
    const char *doc = page();
    size_t rows = 0;
    for (size_t g = 0; g < c->n_gpus; g++) {
        const struct purchase_price *p = newest_of(c, &c->gpus[g]);
        if (!p)
            continue;
        const struct ownership_terms t = terms_for(c, &c->gpus[g]);
        const struct quoted market = quotes_of(c, &c->gpus[g], OPEN_MARKET),
                            cities = quotes_of(c, &c->gpus[g], THREE_CITIES);
        char left[128], right[128], on[16], money[32], row[512];
        side(&t, p, &market, left, sizeof left);
        side(&t, p, &cities, right, sizeof right);
        month_text(p->observed_on, on, sizeof on);
        snprintf(row, sizeof row, "| %s | %s (%s) | %s | %s |\n", c->gpus[g].name,
                 grouped((double)p->micros / 1e6, money), on, left, right);
        cr_expect(strstr(doc, row), "docs/ownership.md lacks\n%s", row);
        rows++;
    }
    cr_expect_geq(rows, 20u);
}

/* domain.md section 6 at the guides' own prices: 40 % and more above renting at a start-up's use, level or less when
 * full for years. */
Test(ownership_market, own_hardware_at_the_prices_of_the_guides)
{
    const struct catalog *c = test_catalog_bound();
    const struct gpu *a100 = catalog_gpu(c, "a100-sxm4-80g");
    const struct ownership_terms t = terms_for(c, a100);
    const struct quoted q = quotes_of(c, a100, THREE_CITIES);
    const struct compared r = compare(&t, newest_of(c, a100), &q.rent);
    cr_expect(r.start_up >= 1.4, "%.3f", r.start_up);
    cr_expect(r.full < 1, "%.3f", r.full);
    cr_expect(r.turn > t.utilisation && r.turn < 1, "%.3f", r.turn);
}

/* The room and its electricity against the one published tariff at hand: 1.5 a kWh and 2,000 a server-year. */
Test(ownership_market, room_and_power_agree_with_a_published_tariff)
{
    const struct catalog *c = test_catalog_bound();
    const struct gpu *a100 = catalog_gpu(c, "a100-sxm4-80g");
    const struct ownership_terms t = terms_for(c, a100);
    const double kw = 8 * 0.4 * (1 + t.server_overhead_share);
    const double ours = t.hosting_per_kw_month + t.month_hours * t.pue * t.power_per_kwh;
    const double theirs = 1.5 * t.month_hours + 2000.0 / 12 / kw;
    cr_expect(fabs(ours / theirs - 1) < 0.1, "%.0f against %.0f a kW-month", ours, theirs);
}
