/* build.c — what every builder shares: defaults, overrides, dates, and physics once per distinct shape. */
#include "planner/drafting/build.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/money.h"
#include "planner/costing/costing.h"

/* The parameter table with the request's own values in place; unknown and forbidden names are the caller's fault. */
static int apply_overrides(struct build *b, struct err *err)
{
    const struct workload *w = b->workload;
    const struct param_table *from = &b->catalog->params;
    b->params = *from;
    if (w->n_overrides == 0)
        return 0;
    struct param *rows = arena_array(b->arena, from->n, sizeof *rows);
    if (rows == NULL)
        return err_set(err, ERR_NOMEM, "no room for the assumptions");
    memcpy(rows, from->rows, from->n * sizeof *rows);
    for (size_t i = 0; i < w->n_overrides; i++) {
        const struct assumption_override *o = &w->overrides[i];
        const char *pointer = arena_printf(b->arena, "/workload/assumptions/%.60s", o->name);
        if (pointer == NULL)
            return err_set(err, ERR_NOMEM, "no room for the assumptions");
        const struct param *p = param_find(from, o->name);
        if (p == NULL || !p->overridable)
            return err_at(err, ERR_INVALID, pointer, "no assumption of this name can be set by a request");
        if (!(o->value >= p->min && o->value <= p->max))
            return err_at(err, ERR_RANGE, pointer, "must be within %g and %g", p->min, p->max);
        rows[p - from->rows].value = o->value;
    }
    b->params.rows = rows;
    return 0;
}

static int make_room(struct build *b, struct err *err)
{
    b->readings = arena_alloc(b->arena, training_readings_size());
    if (b->day.room == NULL)
        b->day.room = arena_room(b->arena, 1, costing_room_size());
    return b->readings == NULL || b->day.room == NULL
               ? err_set(err, ERR_NOMEM, "no room for what is kept between offers")
               : 0;
}

static int bind_constants(struct build *b, struct err *err)
{
    b->training_k = b->catalog->training;
    b->serving_k = b->catalog->serving;
    if (assume_bind(&b->params, &b->a, err) != 0)
        return -1;
    if (b->params.rows == b->catalog->params.rows)
        return 0;
    struct training_constants *training = arena_alloc(b->arena, training_constants_size());
    struct serving_constants *serving = arena_alloc(b->arena, serving_constants_size());
    if (training == NULL || serving == NULL)
        return err_set(err, ERR_NOMEM, "no room for the physics' constants");
    if (training_constants_bind(&b->params, training, err) != 0 ||
        serving_constants_bind(&b->params, serving, err) != 0)
        return -1;
    b->training_k = training;
    b->serving_k = serving;
    return 0;
}

static double quantised_bytes(const struct build *b)
{
    const struct param *p = param_find(&b->params, "train.quant_bytes");
    return p != NULL ? p->value : 0;
}

double build_state_bytes(const struct build *b)
{
    const double params = b->workload->model.params;
    switch (b->training.method) {
    case METHOD_LORA:
    case METHOD_EMBEDDING:
        return 2 * params;
    case METHOD_QLORA:
        return quantised_bytes(b) * params;
    case METHOD_CUSTOM:
        return b->training.state_gb * 1e9;
    case METHOD_UNSTATED:
    case METHOD_PRETRAIN:
    case METHOD_FULL_FINETUNE:
        break;
    }
    return training_least_state_bytes(&b->training) * params;
}

/* The market is opened before the budget is read in its currency. */
static int resolve_money(struct build *b, const struct build *like, struct err *err)
{
    const struct workload *w = b->workload;
    const struct constraints *c = &w->constraints;
    b->market = (struct market){.day = &b->day, .wants = c, .arena = b->arena};
    b->market.data_at_home = c->data_sensitive && c->can_desensitise != TRI_YES;
    b->market.state_bytes = b->trains ? build_state_bytes(b) : 0;
    if (market_open_like(like != NULL ? &like->market : NULL, &b->market) != 0)
        return err_set(err, ERR_NOMEM, "no room for a plan");
    if (c->budget_minor <= 0)
        return 0;
    const char *from = c->budget_currency[0] != '\0' ? c->budget_currency : b->day.currency;
    int64_t rate, minor;
    date_t on;
    if (catalog_fx(b->catalog, from, b->day.currency, b->day.as_of, &rate, &on) != 0)
        return err_at(err, ERR_UNSUPPORTED, "/workload/constraints/budget/currency", "no exchange rate from %s to %s",
                      from, b->day.currency);
    if (catalog_convert(b->catalog, from, b->day.currency, b->day.as_of, c->budget_minor, &minor) != 0 ||
        minor > INT64_MAX / 2)
        return err_at(err, ERR_RANGE, "/workload/constraints/budget", "leaves the range of amounts");
    b->budget_minor = minor;
    return 0;
}

static void resolve_workload(struct build *b)
{
    const struct workload *w = b->workload;
    const struct constraints *c = &w->constraints;
    b->start = c->start_on != DATE_NONE ? c->start_on : b->day.as_of + (date_t)b->a.start_after_days;
    b->deadline_day = c->deadline_on != DATE_NONE ? c->deadline_on - b->start : INT_MAX;
    b->trains = w->training.stated;
    b->serves = w->serving.stated;
    b->training = w->training;
    b->training.runs = b->training.runs > 0 ? b->training.runs : 1;
    b->training.parallel_runs = b->training.parallel_runs > 0 ? b->training.parallel_runs : 1;
    if (b->training.parallel_runs > b->training.runs)
        b->training.parallel_runs = b->training.runs;
    const bool at_home = c->data_sensitive && c->can_desensitise != TRI_YES;
    b->shareable_runs = w->training.shareable_runs < 0 && at_home ? 0 : b->training.runs;
    if (w->training.shareable_runs >= 0 && w->training.shareable_runs < b->training.runs)
        b->shareable_runs = w->training.shareable_runs;
    if (w->measured.stated && w->measured.gpu != NULL)
        b->measured_gpu = catalog_gpu(b->catalog, w->measured.gpu);
}

static void start(struct build *b, const struct plan_request *q, struct arena *arena)
{
    const struct workload *w = q->workload;
    memset(b, 0, offsetof(struct build, alternatives));
    b->catalog = q->catalog;
    b->workload = w;
    b->arena = arena;
    b->day = (struct trade_day){.catalog = q->catalog, .a = &b->a, .as_of = q->as_of};
    trade_day_open(&b->day);
    b->day.allow_spot = w->constraints.allow_spot;
    memcpy(b->day.currency, w->currency[0] != '\0' ? w->currency : "CNY", sizeof b->day.currency);
    for (int k = 0; k < KIND_COUNT; k++)
        note_list_init(&b->refusals[k], arena);
    note_list_init(&b->warnings, arena);
}

/* from: the plan that this one is made of; NULL = none. */
static int resolve(struct build *b, const struct build *from, struct err *err)
{
    if (make_room(b, err) != 0)
        return -1;
    resolve_workload(b);
    return resolve_money(b, from, err);
}

int build_init(struct build *b, const struct plan_request *q, struct arena *arena, struct err *err)
{
    start(b, q, arena);
    if (apply_overrides(b, err) != 0 || bind_constants(b, err) != 0)
        return -1;
    return resolve(b, NULL, err);
}

int build_init_like(const struct build *from, struct build *b, const struct plan_request *q, struct arena *arena,
                    struct err *err)
{
    const struct workload *w = q->workload, *was = from->workload;
    if (from->catalog != q->catalog || w->overrides != was->overrides || w->n_overrides != was->n_overrides)
        return build_init(b, q, arena, err);
    start(b, q, arena);
    b->day.room = from->day.room;
    b->params = from->params;
    memcpy(b->qualities, from->qualities, sizeof b->qualities);
    b->n_qualities = from->n_qualities;
    b->a = from->a;
    b->training_k = from->training_k;
    b->serving_k = from->serving_k;
    return resolve(b, from, err);
}

bool build_measured_on(const struct build *b, const struct gpu *gpu)
{
    const struct measured *m = &b->workload->measured;
    bool read = m->stated && (m->tokens_per_s > 0 || m->samples_per_s > 0 || m->step_time_s > 0);
    return read && b->measured_gpu == gpu && m->nodes <= 1;
}

bool build_stops(const struct err *err)
{
    return err->code != ERR_UNSUPPORTED && err->code != ERR_INVALID;
}

struct shape build_shape(const struct build *b, const struct sku *sku, int cards, int nodes,
                         const struct network *network)
{
    struct shape s = {.gpu = sku->gpu, .gpus_per_node = cards, .nodes = nodes};
    s.intra = cards > 1 ? sku->intra : INTRA_NONE;
    double host_gb = sku->host_memory_gb > 0 ? fmax(sku->host_memory_gb, b->a.host_memory_least_gb) : 0;
    s.storage_gb_s = fmax(0, b->workload->measured.parallel_file_system_gbps) / 8; /* what the data was read at */
    s.host_memory_gb = sku->gpus_per_node > 0 ? floor(host_gb * cards / sku->gpus_per_node) : 0;
    if (nodes <= 1)
        return s;
    const struct network *n = network != NULL ? network : sku->network;
    s.inter = n != NULL && n->kind != INTER_NONE ? n->kind : INTER_ETHERNET;
    s.inter_gbps_per_node = n != NULL && n->gbps_per_node > 0 ? n->gbps_per_node : b->a.cluster_default_gbps;
    return s;
}

double build_train_hours(const struct build *b, const struct estimate *e, int lanes)
{
    if (!e->has_training || lanes < 1)
        return NAN;
    const struct training_estimate *t = &e->training;
    double overhead = t->run_overhead > 0 ? t->run_overhead : 0;
    double hours = t->wall_hours / (1 + overhead) * (1 + overhead * b->a.run_overhead_factor);
    return hours * b->training.runs / lanes;
}

void build_draft_start(struct build *b, struct draft *d, enum option_kind kind)
{
    draft_start(d, kind, b->arena);
    d->reserve = &b->reserve;
    d->deadline_day = b->deadline_day;
    if (b->order_only)
        draft_hush(d);
}

void build_draft_restart(struct build *b, struct draft *d, enum option_kind kind)
{
    const bool hushed = d->reasons.unread;
    build_draft_start(b, d, kind);
    if (hushed)
        draft_hush(d);
}

struct draft *build_draft_new(struct build *b, enum option_kind kind)
{
    struct draft *d = arena_room(b->arena, 1, sizeof *d);
    if (d != NULL)
        build_draft_start(b, d, kind);
    return d;
}

int build_keep(struct build *b, struct option_list *l, struct draft *d)
{
    struct reckoning *base = arena_alloc(b->arena, sizeof *base);
    if (base == NULL)
        return -1;
    b->n_reckoned++;
    if (costing_reckon(&b->day, d, &what_if_expected, base) != 0) {
        note_num(build_refuse(b, d->kind, "beyond_horizon"), "days", b->a.horizon_days);
        return 0;
    }
    d->base = base;
    return build_append(b, l, d);
}

int build_append(struct build *b, struct option_list *l, struct draft *d)
{
    if (d == NULL || !arena_grow(b->arena, (void **)&l->items, &l->cap, l->n, sizeof *l->items))
        return -1;
    l->items[l->n++] = d;
    return 0;
}
