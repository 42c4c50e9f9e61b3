/* bill.c — see bill.h. */
#include "planner/costing/bill.h"

#include <string.h>

#include "base/money.h"

void bill_start(struct bill *bill)
{
    bill->n = 0;
    bill->machines_net = bill->deposit = 0;
    bill->spot_hours = bill->machine_hours = 0;
    bill->failed = false;
    bill->shares = NULL;
}

int bill_add(struct bill *bill, struct cost_line line, int64_t tax_bp)
{
    if (bill->n == BILL_LINES_MAX || money_line(line.quantity_milli, line.unit_price_micros, &line.minor) != 0 ||
        money_tax(line.minor, tax_bp, &line.tax_minor) != 0) {
        bill->failed = true;
        return -1;
    }
    bill->lines[bill->n++] = line;
    return 0;
}

void bill_hold(struct bill *bill, int64_t deposit)
{
    if (money_add(bill->deposit, deposit, &bill->deposit) != 0)
        bill->failed = true;
}

int bill_sum(const struct bill *bill, int64_t *ret_net, int64_t *ret_tax)
{
    int64_t net = 0, tax = 0;
    for (size_t i = 0; i < bill->n; i++)
        if (money_add(net, bill->lines[i].minor, &net) != 0 || money_add(tax, bill->lines[i].tax_minor, &tax) != 0)
            return -1;
    *ret_net = net;
    *ret_tax = tax;
    return 0;
}

/* -1: more codes than a bill holds. */
static int add_tax(struct cost *c, const struct cost_line *line)
{
    size_t at = 0;
    while (at < c->n_taxes && strcmp(c->taxes[at].code, line->tax_code) != 0)
        at++;
    if (at == COST_TAXES_MAX)
        return -1;
    if (at == c->n_taxes)
        c->taxes[c->n_taxes++] = (struct cost_tax){.code = line->tax_code};
    c->taxes[at].net += line->minor;
    c->taxes[at].tax += line->tax_minor;
    return 0;
}

int bill_cost(const struct bill *bill, struct arena *arena, struct cost *ret)
{
    *ret = (struct cost){.n_lines = bill->n, .cap_lines = bill->n, .deposit = bill->deposit};
    ret->lines = arena_array(arena, bill->n > 0 ? bill->n : 1, sizeof *ret->lines);
    if (ret->lines == NULL || bill_sum(bill, &ret->net, &ret->tax) != 0 ||
        money_add(ret->net, ret->tax, &ret->total) != 0)
        return -1;
    for (size_t i = 0; i < bill->n; i++) { /* in the order of phases, then as billed */
        size_t at = i;
        for (; at > 0 && ret->lines[at - 1].phase > bill->lines[i].phase; at--)
            ret->lines[at] = ret->lines[at - 1];
        ret->lines[at] = bill->lines[i];
    }
    for (size_t i = 0; i < bill->n; i++) {
        ret->by_section[bill->lines[i].section] += bill->lines[i].minor;
        if (add_tax(ret, &bill->lines[i]) != 0)
            return -1;
    }
    ret->low = ret->expected = ret->high = ret->total;
    return 0;
}
