/* A turning point that is told is one: planning the changed request anew, whole and from nothing, recommends what was
 * recommended just before it and something else just beyond it. And what is not told does not turn: 25 % more or less
 * of any input that the plan vouches for recommends the same. Over the examples and many random requests. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/decode.h"
#include "planner/advice/contest.h"
#include "planner/advice/levers.h"
#include "planner/advice/plan_make.h"
#include "planner/drafting/build.h"
#include "planner/offers/engine.h"
#include "planner/reserve/reserve.h"
#include "tests/support/test_catalog.h"

static const struct catalog *catalog(void)
{
    static struct catalog *c;
    struct err err = {0};
    if (c == NULL) {
        c = test_catalog();
        cr_assert_eq(engine_bind(c, &err), 0, "%s", err.detail);
    }
    return c;
}

static date_t today(void)
{
    return date_from_civil(2026, 11, 30);
}

/* A request as the door reads it; false where it is refused. */
static bool read_request(const char *json, size_t len, struct arena *arena, struct workload *ret)
{
    struct decode d;
    struct decoded_plan p;
    struct err err = {0};
    struct fault_list *faults = arena_alloc(arena, sizeof *faults);
    decode_init(&d, catalog(), arena, LANG_EN, today(), faults);
    if (decode_plan_request(&d, json, len, &p, &err) != 0)
        return false;
    *ret = p.workload;
    return true;
}

/* What a customer would call the recommended offer. */
struct offered {
    bool any;
    enum option_kind kind;
    const struct sku *sku[2];
    int machines[2], cards[2];
};

static struct offered offered_by(const struct option *first)
{
    struct offered o = {.any = first != NULL && first->feasible};
    int n = 0;
    if (!o.any)
        return o;
    o.kind = first->kind;
    for (size_t i = 0; i < first->n_supply && n < 2; i++) {
        const struct supply *s = &first->supply[i];
        const bool serves = strcmp(s->role, "serve") == 0;
        if (strcmp(s->role, "validate") == 0 || (serves && n > 0))
            continue;
        o.sku[n] = s->sku;
        o.machines[n] = serves ? 0 : s->nodes;
        o.cards[n++] = serves ? 0 : s->gpus_per_node * s->nodes;
    }
    return o;
}

static bool same(const struct offered *a, const struct offered *b)
{
    if (a->any != b->any || !a->any)
        return a->any == b->any;
    for (int i = 0; i < 2; i++)
        if (a->sku[i] != b->sku[i] || a->cards[i] != b->cards[i])
            return false;
    return a->kind == b->kind;
}

/* A plan's contest, from nothing; what follows from its order is not asked. */
static struct build *hold_contest(const struct catalog *c, const struct workload *w, struct arena *arena,
                                  struct contest *ret)
{
    struct err err = {0};
    struct plan_request q = {c, w, today()};
    struct build *b = arena_alloc(arena, sizeof *b);
    cr_assert_eq(build_init(b, &q, arena, &err), 0, "%s %s", err.pointer, err.detail);
    cr_assert_eq(reserve_build(b, &err), 0, "%s", err.detail);
    cr_assert_eq(contest_hold(b, ~0u, ret, &err), 0, "%s", err.detail);
    return b;
}

static struct offered plan_with(const struct catalog *c, const struct workload *w)
{
    struct arena *arena = arena_new(64 << 20);
    struct contest contest;
    hold_contest(c, w, arena, &contest);
    const struct offered o = offered_by(contest.list.n > 0 ? contest.list.items[0]->option : NULL);
    arena_free(arena);
    return o;
}

/* The workload with one assumption more, or another value of one that it makes. */
static bool set_assumption(struct workload *w, const char *name, double value)
{
    static struct assumption_override all[32];
    size_t n = 0;
    for (size_t i = 0; i < w->n_overrides; i++)
        if (strcmp(w->overrides[i].name, name) != 0)
            all[n++] = w->overrides[i];
    cr_assert_lt(n, sizeof all / sizeof *all);
    all[n++] = (struct assumption_override){name, value};
    w->overrides = all;
    w->n_overrides = n;
    return true;
}

/* The workload with the input at `value`; false: no member of the request. */
static bool set_input(struct workload *w, const char *input, double value, double now)
{
    struct {
        const char *path;
        double *member;
    } members[] = {
        {"/workload/training/tokens", &w->training.tokens},
        {"/workload/training/samples", &w->training.samples},
        {"/workload/training/steps", &w->training.steps},
        {"/workload/measured/tokens_per_s", &w->measured.tokens_per_s},
        {"/workload/measured/samples_per_s", &w->measured.samples_per_s},
        {"/workload/measured/step_time_s", &w->measured.step_time_s},
        {"/workload/serving/requests_per_s", &w->serving.requests_per_s},
        {"/workload/serving/concurrency", &w->serving.concurrency},
        {"/workload/serving/users", &w->serving.users},
        {"/workload/serving/months", &w->serving.months},
        {"/workload/serving/tpot_ms", &w->serving.tpot_ms},
        {"/workload/serving/ttft_ms", &w->serving.ttft_ms},
        {"/workload/serving/peak_factor", &w->serving.peak_factor},
        {"/workload/constraints/egress_gb", &w->constraints.egress_gb},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(input, members[i].path) == 0) {
            *members[i].member = value;
            return true;
        }
    if (strcmp(input, "/workload/training/runs") == 0)
        w->training.runs = (int)lround(value);
    else if (strcmp(input, "/workload/serving/input_tokens") == 0)
        w->serving.input_tokens = (int)lround(value);
    else if (strcmp(input, "/workload/serving/output_tokens") == 0)
        w->serving.output_tokens = (int)lround(value);
    else if (strcmp(input, "/workload/constraints/deadline_on") == 0)
        w->constraints.deadline_on += (date_t)lround(value - now);
    else if (strncmp(input, "/workload/assumptions/", 22) == 0)
        return set_assumption(w, input + 22, value);
    else if (strcmp(input, "/workload/constraints/budget") == 0)
        w->constraints.budget_minor = llround((double)w->constraints.budget_minor * value / now);
    else
        return false;
    return true;
}

/* The catalog with every price of a SKU or a network at `factor` times what it is; false: no price. */
static bool reprice(const struct catalog *from, const char *input, double factor, struct catalog *ret,
                    struct price *prices)
{
    const bool sku = strncmp(input, "/skus/", 6) == 0;
    const char *id = strchr(input + 1, '/') + 1, *end = strrchr(input, '/');
    if (!sku && strncmp(input, "/networks/", 10) != 0)
        return false;
    *ret = *from;
    memcpy(prices, from->prices, from->n_prices * sizeof *prices);
    ret->prices = prices;
    for (size_t i = 0; i < from->n_prices; i++) {
        struct price *p = &prices[i];
        const char *of = p->sku ? p->sku->id : p->subject_id;
        if (of && strlen(of) == (size_t)(end - id) && strncmp(of, id, strlen(of)) == 0 &&
            (sku ? p->subject == SUBJECT_SKU : p->subject == SUBJECT_NETWORK))
            p->micros = llround((double)p->micros * factor), p->micros_high = llround((double)p->micros_high * factor);
    }
    return true;
}

/* The recommendation with one input at `value`. *ret_known: it is an input that can be set from outside. */
static struct offered replan(const struct workload *w, const struct sensitivity *s, double value, bool *ret_known)
{
    struct workload changed = *w;
    struct catalog other;
    struct offered o = {0};
    *ret_known = true;
    if (set_input(&changed, s->input, value, s->now))
        return plan_with(catalog(), &changed);
    struct price *prices = malloc(catalog()->n_prices * sizeof *prices);
    if (reprice(catalog(), s->input, value / s->now, &other, prices))
        o = plan_with(&other, w);
    else
        *ret_known = false;
    free(prices);
    return o;
}

struct tally {
    int plans, told, confirmed, held, outside; /* outside: inputs that a request cannot set */
    int wider, wider_held;                     /* as held, but three times as far on either side */
    int vouched, kept;                         /* sides of inputs that are said to change nothing, and do not */
    bool missed_by; /* a miss is counted, not reported: a re-plan leaves out kinds that are far behind */
};

static void check_turn(const struct workload *w, const struct sensitivity *s, const struct offered *now,
                       struct tally *t, const char *name)
{
    bool whole = strcmp(s->input, "/workload/training/runs") == 0 || strstr(s->input, "deadline_on") != NULL, known;
    const int side = s->turning_point > s->now || (whole && s->turning_point >= s->now) ? 1 : -1;
    const double step = whole ? 1 : 0.005 * s->now;
    const double beyond = whole ? s->turning_point : s->turning_point + side * step;
    const double before = s->turning_point - side * step;
    cr_expect(fabs(s->turning_point / s->now - 1) <= 0.26, "%s: %s turns at %g of %g", name, s->input, s->turning_point,
              s->now);
    t->told++;
    t->confirmed += s->confirmed;
    if (!s->confirmed)
        return;
    const struct offered then = replan(w, s, beyond, &known), still = replan(w, s, before, &known);
    if (!known) {
        t->outside++;
        return;
    }
    const bool turns = !same(&then, now), stays = same(&still, now);
    t->held += turns && stays;
    const struct offered far = replan(w, s, s->turning_point + side * 3 * step, &known),
                         near = replan(w, s, s->turning_point - side * 3 * step, &known);
    t->wider += !whole;
    t->wider_held += !whole && !same(&far, now) && same(&near, now);
    cr_expect(turns || t->missed_by, "%s: %s is told to turn at %g of %g, but does not", name, s->input,
              s->turning_point, s->now);
    cr_expect(stays || t->missed_by, "%s: %s turns before the %g of %g that is told", name, s->input, s->turning_point,
              s->now);
}

static bool is_told(const struct plan *p, const char *input, int side)
{
    for (size_t i = 0; i < p->n_sensitivities; i++) {
        const struct sensitivity *s = &p->sensitivities[i];
        if (strcmp(s->input, input) == 0 && (s->turning_point >= s->now ? 1 : -1) == side)
            return true;
    }
    for (size_t i = 0; i < p->n_unsettled; i++)
        if (strcmp(p->unsettled[i], input) == 0)
            return true;
    return false;
}

/* Every input, a quarter less and a quarter more. */
static void check_others(const struct workload *w, const struct plan *p, const struct offered *now, struct tally *t,
                         const char *name)
{
    struct arena *arena = arena_new(64 << 20);
    struct contest c;
    struct lever levers[LEVERS_MAX];
    struct build *b = hold_contest(catalog(), w, arena, &c);
    const size_t n = now->any ? levers_of(b, &c.list, levers, LEVERS_MAX) : 0;
    for (size_t i = 0; i < 2 * n; i++) {
        const struct lever *l = &levers[i / 2];
        const int side = i % 2 ? 1 : -1;
        const double reach = l->whole ? floor(LEVER_REACH * l->now + 1e-9) / l->now : LEVER_REACH;
        const struct sensitivity input = {.input = l->path, .now = l->now};
        bool known;
        if (!(reach > 0) || is_told(p, l->path, side))
            continue;
        const struct offered far = replan(w, &input, l->now * (1 + side * reach), &known);
        if (!known)
            continue;
        t->vouched++;
        t->kept += same(&far, now);
        if (getenv("TALLY") && !same(&far, now))
            printf("%s: %s at %g of %g\n", name, l->path, l->now * (1 + side * reach), l->now);
        cr_expect(same(&far, now) || t->missed_by, "%s: %s at %g of %g changes what is recommended, and is not told",
                  name, l->path, l->now * (1 + side * reach), l->now);
    }
    arena_free(arena);
}

/* thorough: with all the effort that a request may ask for, every input is followed to both ends. */
static void check_request(const char *json, size_t len, const char *name, bool thorough, struct tally *t)
{
    struct arena *arena = arena_new(64 << 20);
    struct workload w;
    struct err err = {0};
    if (read_request(json, len, arena, &w)) {
        if (thorough)
            set_assumption(&w, "plan_effort", 40000);
        struct plan_request q = {catalog(), &w, today()};
        struct plan *p = arena_alloc(arena, sizeof *p);
        cr_assert_eq(plan_make(&q, arena, p, &err), 0, "%s: %s %s", name, err.pointer, err.detail);
        const struct offered now = offered_by(p->recommended != NULL ? &p->options[0] : NULL);
        t->plans++;
        cr_expect(!thorough || p->n_unsettled == 0, "%s: %zu inputs are left, such as %s", name, p->n_unsettled,
                  p->n_unsettled > 0 ? p->unsettled[0] : "");
        for (size_t i = 0; i < p->n_sensitivities; i++)
            check_turn(&w, &p->sensitivities[i], &now, t, name);
        check_others(&w, p, &now, t, name);
    }
    arena_free(arena);
}

static void print_tally(const struct tally *t)
{
    if (!getenv("TALLY"))
        return;
    printf("%d plans: %d told, %d confirmed, %d of them not from outside, %d held; wider %d of %d\n", t->plans, t->told,
           t->confirmed, t->outside, t->held, t->wider_held, t->wider);
    printf("%d sides said to change nothing, %d do not\n", t->vouched, t->kept);
}

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static const char *pick(unsigned *seed, const char *const *of, size_t n)
{
    return of[next(seed) % n];
}

#define PICK(...)                                                                                                      \
    pick(&seed, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static int random_request(unsigned seed, char *to, size_t cap)
{
    const char *model = PICK("qwen2.5-7b", "qwen2.5-14b", "llama-2-13b", "qwen2.5-32b", "llama-2-70b");
    const char *method = PICK("lora", "qlora", "full_finetune", "full_finetune");
    const char *city = PICK("", "\"city\":\"hefei\",", "\"city\":\"shenzhen\",", "\"city\":\"wuhan\",");
    const char *team = PICK("none", "single_node", "slurm", "kubernetes", "expert");
    const char *limit = PICK("", "", "\"deadline_on\":\"2027-02-05\",", "\"deadline_on\":\"2027-03-20\",",
                             "\"budget\":{\"amount\":\"150000\",\"currency\":\"CNY\"},");
    const char *service = PICK("", ",\"serving\":{\"months\":0}",
                               ",\"serving\":{\"requests_per_s\":2,\"months\":6,\"output_tokens\":300}");
    const char *priority = PICK("cheapest", "fastest", "balanced");
    const int runs = 1 + (int)(next(&seed) % 12);
    const double tokens = 1e8 * pow(30, (double)(next(&seed) % 1000) / 1000);
    return snprintf(to, cap,
                    "{\"workload\":{\"model\":{\"preset\":\"%s\"},\"training\":{\"method\":\"%s\",\"tokens\":%.4g,"
                    "\"runs\":%d}%s,\"constraints\":{%s%s\"team\":\"%s\",\"egress_gb\":80},\"priority\":\"%s\"}}",
                    model, method, tokens, runs, service, city, limit, team, priority);
}

static void check_examples(bool thorough, struct tally *t)
{
    static const char *const names[] = {"01-lora-7b",
                                        "02-full-7b",
                                        "03-full-14b-deadline",
                                        "04-qlora-70b",
                                        "05-full-70b",
                                        "06-pretrain-130b",
                                        "07-serve-7b-50-users",
                                        "08-serve-70b-latency",
                                        "09-embed-corpus",
                                        "10-vision-measured",
                                        "11-sensitive-data",
                                        "12-budget-200k",
                                        "13-hybrid-parallel-runs",
                                        "14-measured-14b",
                                        "15-hybrid-shareable-runs",
                                        "16-nightly-batch"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[100], bytes[65536];
        snprintf(path, sizeof path, "examples/%s.json", names[i]);
        FILE *f = fopen(path, "rb");
        cr_assert_not_null(f, "%s", path);
        const size_t len = fread(bytes, 1, sizeof bytes, f);
        fclose(f);
        check_request(bytes, len, names[i], thorough, t);
    }
    print_tally(t);
}

Test(turning_points, examples_turn_where_they_are_told_to, .timeout = 300)
{
    struct tally t = {0};
    check_examples(false, &t);
    cr_expect_gt(t.held, 14, "%d plans: %d told, %d confirmed, %d of them not from outside, %d held", t.plans, t.told,
                 t.confirmed, t.outside, t.held);
    cr_expect_gt(t.vouched, 24);
}

Test(turning_points, with_effort_every_input_is_followed_to_both_ends, .timeout = 300)
{
    struct tally t = {0};
    check_examples(true, &t);
    cr_expect_eq(t.confirmed, t.told, "%d of %d", t.confirmed, t.told);
    cr_expect_gt(t.told, 40);
    cr_expect_gt(t.vouched, 100);
}

Test(turning_points, random_requests_turn_where_they_are_told_to, .timeout = 300)
{
    struct tally t = {.missed_by = true};
    const char *many = getenv("TURNING_POINTS"); /* more of them for a long night */
    const unsigned n = many ? (unsigned)strtoul(many, NULL, 10) : 40;
    for (unsigned seed = 1; seed <= n; seed++) {
        char json[1000], name[60];
        const int len = random_request(seed * 7919u, json, sizeof json);
        snprintf(name, sizeof name, "random request %u", seed);
        check_request(json, (size_t)len, name, false, &t);
    }
    cr_expect_gt(t.held, (int)(n / 4));
    cr_expect_geq(t.held * 100, (t.confirmed - t.outside) * 98, "%d of %d", t.held, t.confirmed - t.outside);
    cr_expect_geq(t.wider_held * 100, t.wider * 95, "%d of %d", t.wider_held, t.wider);
    cr_expect_geq(t.confirmed * 10, t.told * 7, "%d of %d", t.confirmed, t.told);
    cr_expect_gt(t.vouched, (int)(4 * n));
    cr_expect_geq(t.kept * 1000, t.vouched * 990, "%d of %d", t.kept, t.vouched);
    print_tally(&t);
}
