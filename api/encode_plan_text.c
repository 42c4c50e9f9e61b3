/* encode_plan_text.c — a plan for a person at a terminal: what it costs, when it is done, and why. */
#include <stdio.h>
#include <string.h>

#include "api/encode_plan.h"
#include "api/message.h"
#include "api/text_columns.h"

static const char *word(const struct encode *e, const char *id)
{
    const char *text = message_find(e->language, "text.", id);
    return text ? text : id;
}

static void rule(struct encode *e, char c)
{
    for (int i = 0; i < TEXT_COLUMNS; i++)
        buf_addc(e->w.out, c);
    buf_addc(e->w.out, '\n');
}

/* "  - sentence", wrapped. */
static void bullet(struct encode *e, const struct note *n)
{
    buf_adds(e->w.out, "  - ");
    text_wrap(e->w.out, encode_words(e, n), 4, 4);
}

static void bullets(struct encode *e, const char *heading, const struct note_list *list)
{
    if (list->n == 0)
        return;
    buf_addf(e->w.out, "%s\n", word(e, heading));
    for (size_t i = 0; i < list->n; i++)
        bullet(e, &list->items[i]);
}

static void grouped_money(char out[48], int64_t minor)
{
    char whole[48], plain[MONEY_TEXT_MAX];
    money_text(minor, plain);
    message_number(whole, (double)(minor / 100));
    (void)snprintf(out, 48, "%.40s%s", whole, strchr(plain, '.') ? strchr(plain, '.') : "");
}

/* The cards of the work itself: of training where there is some, else of the service. */
static int most_cards(const struct option *o)
{
    bool trains = false;
    int most = 0;
    for (size_t k = 0; k < o->n_phases; k++)
        trains |= o->phases[k].code == PHASE_TRAIN;
    for (size_t k = 0; k < o->n_phases; k++)
        if ((!trains || o->phases[k].code != PHASE_SERVE) && o->phases[k].gpus > most)
            most = o->phases[k].gpus;
    return most;
}

static void option_rows(struct encode *e, const struct plan *p)
{
    struct buf *out = e->w.out;
    buf_adds(out, "   ");
    text_cell(out, word(e, "kind"), 18, false);
    text_cell(out, word(e, "gpus"), 5, true);
    text_cell(out, word(e, "days"), 7, true);
    buf_adds(out, "  ");
    text_cell(out, word(e, "finish"), 11, false);
    text_cell(out, word(e, "net"), 16, true);
    char total[64];
    (void)snprintf(total, sizeof total, "%.40s %s", word(e, "total"), e->currency);
    text_cell(out, total, 18, true);
    buf_addc(out, '\n');
    rule(e, '-');
    for (size_t i = 0; i < p->n_options; i++) {
        const struct option *o = &p->options[i];
        char text[48], on[DATE_TEXT_MAX];
        int gpus = most_cards(o);
        bool chosen = p->recommended && strcmp(p->recommended, o->label) == 0;
        buf_addf(out, "%-2s%c", o->label, chosen ? '*' : o->feasible ? ' ' : '!');
        text_cell(out, message_term(e->language, workload_enum_name(ENUM_KIND, (int)o->kind)), 18, false);
        (void)snprintf(text, sizeof text, "%d", gpus);
        text_cell(out, text, 5, true);
        (void)snprintf(text, sizeof text, "%.0f", o->finish.expected_days);
        text_cell(out, text, 7, true);
        date_text(o->finish.finish_on, on);
        buf_addf(out, "  %-11s", on);
        grouped_money(text, o->cost.net);
        text_cell(out, text, 16, true);
        grouped_money(text, o->cost.total);
        text_cell(out, text, 18, true);
        buf_addc(out, '\n');
        buf_adds(out, "   ");
        text_wrap(out, encode_words(e, &o->title), 3, 3);
    }
    buf_adds(out, word(e, "legend"));
    buf_addc(out, '\n');
}

static void phase_rows(struct encode *e, const struct option *o)
{
    struct buf *out = e->w.out;
    buf_addf(out, "\n%s\n", word(e, "phases"));
    for (size_t i = 0; i < o->n_phases; i++) {
        const struct phase *ph = &o->phases[i];
        char text[64], from[DATE_TEXT_MAX], to[DATE_TEXT_MAX];
        date_text(ph->start_on, from);
        date_text(ph->end_on, to);
        buf_adds(out, "  ");
        text_cell(out, message_term(e->language, phase_name(ph->code)), 16, false);
        buf_addf(out, "%s .. %s", from, to);
        (void)snprintf(text, sizeof text, "%.0f h", ph->hours);
        text_cell(out, text, 11, true);
        (void)snprintf(text, sizeof text, "%d GPU", ph->gpus);
        text_cell(out, text, 9, true);
        grouped_money(text, ph->minor);
        text_cell(out, text, 18, true);
        buf_addc(out, '\n');
    }
}

static void money_row(struct encode *e, const char *name, int64_t minor)
{
    char text[48];
    grouped_money(text, minor);
    buf_adds(e->w.out, "  ");
    text_cell(e->w.out, name, 30, false);
    text_cell(e->w.out, text, 20, true);
    buf_addc(e->w.out, '\n');
}

static void cost_rows(struct encode *e, const struct option *o)
{
    buf_addf(e->w.out, "\n%s (%s)\n", word(e, "cost"), e->currency);
    for (int s = 0; s < SECTION_COUNT; s++)
        if (o->cost.by_section[s])
            money_row(e, message_term(e->language, section_name((enum section)s)), o->cost.by_section[s]);
    money_row(e, word(e, "net"), o->cost.net);
    money_row(e, word(e, "tax"), o->cost.tax);
    money_row(e, word(e, "total"), o->cost.total);
    char low[48], high[48];
    grouped_money(low, o->cost.low);
    grouped_money(high, o->cost.high);
    buf_addf(e->w.out, "  %s %s .. %s\n", word(e, "range"), low, high);
}

static void reserve_row(struct encode *e, const struct reserve *r)
{
    char text[200], total[48];
    grouped_money(total, r->total);
    if (r->gpus == 0)
        (void)snprintf(text, sizeof text, "%s: %s", word(e, "reserve"), message_term(e->language, r->basis));
    else
        (void)snprintf(text, sizeof text, "%s: %s, %d x %s, %.3g %s, %s %s", word(e, "reserve"),
                       message_term(e->language, r->basis), r->gpus, r->gpu ? r->gpu->name : "-", r->months,
                       word(e, "months"), total, e->currency);
    buf_addc(e->w.out, '\n');
    text_wrap(e->w.out, text, 0, 2);
}

static const struct option *shown_option(const struct plan *p)
{
    for (size_t i = 0; i < p->n_options; i++)
        if (p->recommended && strcmp(p->options[i].label, p->recommended) == 0)
            return &p->options[i];
    return p->n_options ? &p->options[0] : NULL;
}

static void relaxation_rows(struct encode *e, const struct relaxation_list *l)
{
    if (l->n)
        buf_addf(e->w.out, "  %s\n", word(e, "would_change"));
    for (size_t i = 0; i < l->n; i++)
        bullet(e, &l->items[i].text);
}

static void infeasible_rows(struct encode *e, const struct plan *p)
{
    if (p->n_infeasible)
        buf_addf(e->w.out, "\n%s\n", word(e, "not_offered"));
    for (size_t i = 0; i < p->n_infeasible; i++) {
        buf_addf(e->w.out, "  %s\n",
                 message_term(e->language, workload_enum_name(ENUM_KIND, (int)p->infeasible[i].kind)));
        for (size_t k = 0; k < p->infeasible[i].reasons.n; k++)
            bullet(e, &p->infeasible[i].reasons.items[k]);
        relaxation_rows(e, &p->infeasible[i].relaxations);
    }
}

void encode_plan_text(struct encode *e, const struct decoded_plan *in, const struct plan *p)
{
    struct buf *out = e->w.out;
    char id[PLAN_ID_MAX], as_of[DATE_TEXT_MAX];
    const struct option *o = shown_option(p);
    plan_id_of(in, p, id);
    date_text(p->as_of, as_of);
    if (in->workload.name && *in->workload.name)
        text_wrap(out, in->workload.name, 0, 0);
    buf_addf(out, "%s  %s %s  %s %lld\n\n", id, word(e, "as_of"), as_of, word(e, "catalog"),
             (long long)p->catalog_revision);
    if (p->n_options)
        option_rows(e, p);
    else
        buf_addf(out, "%s\n", word(e, "no_option"));
    if (p->recommendation.code)
        bullet(e, &p->recommendation);
    if (p->has_diagnosis)
        bullet(e, &p->diagnosis);
    if (o) {
        buf_addf(out, "\n%s %s\n", word(e, "option"), o->label);
        rule(e, '-');
        bullets(e, "reasons", &o->reasons);
        phase_rows(e, o);
        cost_rows(e, o);
        reserve_row(e, &o->reserve);
        bullets(e, "warnings", &o->warnings);
        relaxation_rows(e, &o->relaxations);
    }
    infeasible_rows(e, p);
    bullets(e, "warnings", &p->warnings);
}
