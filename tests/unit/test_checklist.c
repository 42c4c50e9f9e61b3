/* What the customer takes away besides the price, and that all of it can be said in both languages. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

#include "planner/advice/plan_make.h"
#include "tests/support/small_fixture.h"

extern const struct embed_table embed_messages;

TestSuite(checklist, .init = small_setup, .fini = small_teardown);

static struct plan *plan_of(const struct workload *w)
{
    return small_plan(market, w, arena);
}

static const struct option *first_of(const struct plan *p, enum option_kind kind)
{
    for (size_t i = 0; i < p->n_options; i++)
        if (p->options[i].kind == kind)
            return &p->options[i];
    cr_assert_fail("no option of kind %d", (int)kind);
    return NULL;
}

static const struct checklist_item *item_of(const struct option *o, const char *code)
{
    for (size_t i = 0; i < o->n_checklist; i++)
        if (strcmp(o->checklist[i].code, code) == 0)
            return &o->checklist[i];
    return NULL;
}

static struct workload big(void)
{
    struct workload w = small_workload(market);
    w.training.method = METHOD_FULL_FINETUNE;
    w.training.tokens = 2e10;
    w.training.runs = 4;
    w.training.parallel_runs = 2;
    return w;
}

Test(checklist, verification_matches_the_machine)
{
    static const struct {
        enum option_kind kind;
        const char *has[6], *has_not[4];
    } cases[] = {
        {KIND_SINGLE_MACHINE,
         {"card_model", "topology", "host", "nvme", "framework", "all_reduce"},
         {"two_node_gate", "infiniband", "line", "ask_agreement"}},
        {KIND_SMALL_CLUSTER,
         {"topology", "infiniband", "infiniband_path", "all_reduce_nodes", "two_node_gate", "storage"},
         {"rdma", "ethernet", "line", "ask_agreement"}},
        {KIND_HYBRID_CLOUD,
         {"line", "ask_stock", "ask_replacement", "ask_traffic", "ask_invoice", "card_model"},
         {"ask_agreement", "ask_off_peak"}},
        {KIND_UNIVERSITY_TIME,
         {"ask_agreement", "ask_off_peak", "ask_replacement", "card_model"},
         {"ask_stock", "line"}},
    };
    struct workload w = big(), one_by_one = big();
    one_by_one.training.parallel_runs = 1;
    struct plan *side_by_side = plan_of(&w), *p = plan_of(&one_by_one);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct option *o = first_of(cases[i].kind == KIND_HYBRID_CLOUD ? side_by_side : p, cases[i].kind);
        for (size_t k = 0; k < 6 && cases[i].has[k]; k++)
            cr_expect(item_of(o, cases[i].has[k]), "kind %zu lacks %s", i, cases[i].has[k]);
        for (size_t k = 0; k < 4 && cases[i].has_not[k]; k++)
            cr_expect_null(item_of(o, cases[i].has_not[k]), "kind %zu has %s", i, cases[i].has_not[k]);
        for (size_t k = 0; k < o->n_checklist; k++)
            cr_expect_eq(item_of(o, o->checklist[k].code), &o->checklist[k], "%s is there twice", o->checklist[k].code);
    }
    cr_expect_str_eq(item_of(first_of(p, KIND_SMALL_CLUSTER), "topology")->command, "nvidia-smi topo -m");
    cr_expect_str_eq(item_of(first_of(p, KIND_SMALL_CLUSTER), "all_reduce")->command,
                     "all_reduce_perf -b 8M -e 8G -f 2 -g 8");
    w.constraints.data_sensitive = true;
    cr_expect(item_of(first_of(plan_of(&w), KIND_SINGLE_MACHINE), "ask_isolation"));
}

/* --- every note has a text in both languages ----------------------------------------------------------------- */
static json_t *texts(const char *language)
{
    json_t *all = json_object();
    for (size_t i = 0; i < embed_messages.n; i++) {
        const struct embed_file *f = &embed_messages.files[i];
        if (!strstr(f->name, language))
            continue;
        json_t *one = json_loadb((const char *)f->data, f->size, 0, NULL);
        cr_assert(one, "%s", f->name);
        json_object_update(all, one);
        json_decref(one);
    }
    return all;
}

/* The text is there, and every placeholder in it has an argument. */
static void check_note(const json_t *all, const struct note *n)
{
    char key[96];
    if (!n->code || !*n->code)
        return;
    snprintf(key, sizeof key, "note.%s", n->code);
    const char *text = json_string_value(json_object_get(all, key));
    cr_expect(text, "no %s", key);
    for (const char *at = text ? strchr(text, '{') : NULL; at; at = strchr(at + 1, '{')) {
        const char *end = strchr(at, '}');
        bool known = false;
        for (unsigned i = 0; end && i < n->n_args; i++)
            known |= strlen(n->args[i].name) == (size_t)(end - at - 1) &&
                     strncmp(n->args[i].name, at + 1, (size_t)(end - at - 1)) == 0;
        cr_expect(known, "%s: nothing for %.*s", key, (int)(end ? end - at + 1 : 1), at);
    }
}

static void check_list(const json_t *all, const struct note_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        check_note(all, &l->items[i]);
}

static void check_relaxations(const json_t *all, const struct relaxation_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        check_note(all, &l->items[i].text);
}

static void check_plan(const json_t *all, const struct plan *p)
{
    check_list(all, &p->cluster_triggers);
    check_list(all, &p->counter_signs);
    check_list(all, &p->staged_advice);
    check_list(all, &p->warnings);
    check_list(all, &p->own.notes);
    for (size_t i = 0; i < p->n_infeasible; i++) {
        check_list(all, &p->infeasible[i].reasons);
        check_relaxations(all, &p->infeasible[i].relaxations);
    }
    for (size_t i = 0; i < p->n_options; i++) {
        const struct option *o = &p->options[i];
        check_note(all, &o->title);
        check_list(all, &o->reasons);
        check_list(all, &o->warnings);
        check_relaxations(all, &o->relaxations);
        for (size_t k = 0; k < o->n_checklist; k++)
            check_note(all, &o->checklist[k].text);
    }
}

Test(checklist, every_note_of_a_plan_has_a_text_in_both_languages)
{
    json_t *languages[] = {texts(".en.json"), texts(".zh-CN.json")};
    for (int i = 0; i < 64; i++) {
        struct workload w = i & 1 ? big() : small_workload(market);
        w.constraints.data_sensitive = i & 2;
        w.constraints.can_desensitise = i & 4 ? TRI_YES : TRI_NO;
        w.constraints.team = i & 8 ? TEAM_NONE : TEAM_UNSTATED;
        if (i & 16)
            w.constraints.deadline_on = w.constraints.start_on + (i & 1 ? 3 : 60);
        if (i & 32) {
            w.constraints.budget_minor = 2000000;
            memcpy(w.constraints.budget_currency, "CNY", 4);
            w.serving.months_stated = false;
        }
        struct plan *p = plan_of(&w);
        for (size_t l = 0; l < 2; l++)
            check_plan(languages[l], p);
    }
    for (size_t l = 0; l < 2; l++)
        json_decref(languages[l]);
}

/* A plan that does not fit its memory is refused as such, wherever the memory ends. */
Test(checklist, a_plan_without_memory_is_an_error, .timeout = 60)
{
    struct workload w = big();
    int refused = 0, made = 0;
    w.constraints.data_sensitive = true;
    for (size_t cap = 16 << 10; cap < 4 << 20 && made < 3; cap += cap / 24) {
        struct arena *small = arena_new(cap);
        struct plan p;
        struct err err = {0};
        struct plan_request q = {.catalog = market, .workload = &w};
        date_parse("2026-11-30", &q.as_of);
        const bool fits = plan_make(&q, small, &p, &err) == 0;
        made += fits;
        refused += !fits;
        if (!fits)
            cr_expect_eq(err.code, ERR_NOMEM, "%zu bytes: %s", cap, err.detail);
        arena_free(small);
    }
    cr_expect(refused > 20 && made == 3, "%d refused, %d made", refused, made);
}
