/* cards.c — old card against new card: what a dearer hour buys.
 *
 * Single machines of other cards than the best one say beside it how many times its price an hour costs and how the
 * hours of the work compare, because neither alone tells which is dearer to the end of the job.
 */
#include <math.h>

#include "planner/advice/follow.h"

/* Paid for one card about an hour, minor units: by the hour where that is sold, else an hour of the month. */
static double card_hour(const struct build *b, const struct offer *o)
{
    double hour = 0;
    for (size_t i = 0; i < o->n_rates; i++) {
        const struct rate *r = &o->rates[i];
        const double card =
            (double)r->unit_micros / 1e4 * (double)r->quantity_milli / 1e3 / (r->per_card ? 1 : o->sku->gpus_per_node);
        if (r->mode == MODE_HOURLY && (hour <= 0 || card < hour))
            hour = card;
    }
    const double month = o->by_card ? o->card_month_micros : o->node_month_micros / o->sku->gpus_per_node;
    return hour > 0 ? hour : month / 1e4 / b->a.month_hours;
}

static double train_hours(const struct draft *d)
{
    double hours = 0;
    for (int i = 0; i < d->n_steps; i++)
        if (d->steps[i].phase == PHASE_TRAIN)
            hours += d->steps[i].hours;
    return hours;
}

void cards_side_by_side(const struct build *b, const struct option_list *ranked)
{
    const struct draft *best = NULL;
    for (size_t i = 0; i < ranked->n; i++) {
        const struct draft *d = ranked->items[i];
        if (d->kind != KIND_SINGLE_MACHINE || !b->trains)
            continue;
        if (best == NULL) {
            best = d;
            continue;
        }
        const struct draft_group *g = &d->groups[d->train_group], *h = &best->groups[best->train_group];
        const double price = card_hour(b, g->offer) * g->cards, other = card_hour(b, h->offer) * h->cards;
        const double hours = train_hours(d), other_hours = train_hours(best);
        if (g->offer->sku->gpu == h->offer->sku->gpu || !(price > 0 && other > 0 && hours > 0 && other_hours > 0))
            continue;
        struct note *n = note_text(note_add(&d->option->reasons, "card_against_card"), "gpu", g->offer->sku->gpu->name);
        note_text(note_num(n, "cards", g->cards), "other", h->offer->sku->gpu->name);
        note_num(note_num(n, "other_cards", h->cards), "price", price / other);
        note_num(note_num(n, "hours", hours), "other_hours", other_hours);
    }
}
