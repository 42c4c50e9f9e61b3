/* build_sizing.c — the load on the machines of one card, sized once a plan and for the plans made of it. */
#include <string.h>

#include "planner/drafting/build.h"

const struct model *build_served_model(const struct build *b)
{
    const struct workload *w = b->workload;
    return w->serving.stated && w->serving.own_model ? &w->serving.model : &w->model;
}

enum { LOADS = 256, MACHINES = 64 };

struct sizing_store {
    struct sizing_entry *of_load[LOADS];       /* by machine and how much there is to carry */
    struct sizing_entry *of_machine[MACHINES]; /* those that keep what a replica carries */
    struct arena *arena;                       /* of the plan whose store it is: it outlives the plans made of it */
};

static size_t machine_number(const struct build *b, const struct sku *sku)
{
    return ((size_t)(sku->gpu - b->catalog->gpus) * 31 + (size_t)sku->gpus_per_node) % MACHINES;
}

static uint64_t mixed(uint64_t hash, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return (hash ^ bits) * 0x9E3779B97F4A7C15u;
}

static size_t load_number(const struct build *b, const struct sku *sku, const struct serving *load)
{
    uint64_t hash = mixed((uint64_t)(sku->gpu - b->catalog->gpus), sku->gpus_per_node);
    hash = mixed(mixed(mixed(hash, load->requests_per_s), load->users), load->concurrency);
    hash = mixed(mixed(hash, load->weight_bits), load->peak_factor);
    return (size_t)(hash >> 32) % LOADS;
}

static struct sizing_store *store_of(struct build *b)
{
    if (b->sizings == NULL && (b->sizings = arena_alloc(b->arena, sizeof *b->sizings)) != NULL)
        b->sizings->arena = b->arena;
    return b->sizings;
}

static bool is_machine(const struct sizing_entry *e, const struct sku *sku)
{
    return e->gpu == sku->gpu && e->intra == sku->intra && e->gpus_per_node == sku->gpus_per_node;
}

/* For how long it is served sizes no machine. */
static struct serving timeless(const struct serving *load)
{
    struct serving s = *load;
    s.months_stated = false;
    s.months = 0;
    return s;
}

static bool same_number(double a, double b)
{
    return !(a < b) && !(a > b);
}

/* How much there is to carry stands behind the model: it is looked at first, for it tells most loads apart. */
static bool same_load(const struct serving *a, const struct serving *b)
{
    return same_number(a->requests_per_s, b->requests_per_s) && same_number(a->users, b->users) &&
           same_number(a->concurrency, b->concurrency) && memcmp(a, b, sizeof *a) == 0;
}

/* What one replica carries does not depend on how much there is to carry, nor on when. */
static struct serving_kept *kept_for(const struct sizing_entry *head, const struct sku *sku, const struct serving *load)
{
    for (const struct sizing_entry *e = head; e != NULL; e = e->next_of_machine) {
        if (!is_machine(e, sku))
            continue;
        struct serving s = *load;
        s.requests_per_s = e->load.requests_per_s;
        s.concurrency = e->load.concurrency;
        s.users = e->load.users;
        s.peak_factor = e->load.peak_factor;
        s.spare_replicas = e->load.spare_replicas;
        s.hours_per_day = e->load.hours_per_day;
        s.batch_share = e->load.batch_share;
        if (memcmp(&s, &e->load, sizeof s) == 0)
            return e->kept;
    }
    return NULL;
}

/* 1 when this card cannot serve it at all, -1 when memory is short. */
static int size(struct build *b, const struct sku *sku, bool machines_alone, struct sizing_entry *e,
                struct serving_sizing *ret, struct err *err)
{
    const struct serving_sizing_request q = {.model = build_served_model(b),
                                             .serving = &e->load,
                                             .gpu = sku->gpu,
                                             .intra = sku->intra,
                                             .gpus_per_node = sku->gpus_per_node,
                                             .load_low = b->a.load_low,
                                             .load_high = b->a.load_high,
                                             .utilisation_target = b->a.serving_utilisation_target,
                                             .machines_alone = machines_alone};
    b->n_sized++;
    e->refused = serving_size_keeping(b->serving_k, &q, b->sizings->arena, b->serves ? &e->kept : NULL, ret, err) != 0;
    if (e->refused)
        return err->code == ERR_NOMEM ? -1 : 1;
    b->n_measured += ret->replicas_measured;
    e->machines_alone = machines_alone;
    e->sizing = *ret;
    return 0;
}

static int sizing_of(struct build *b, const struct sku *sku, const struct serving *load, bool machines_alone,
                     struct serving_sizing *ret, struct err *err)
{
    struct sizing_store *store = store_of(b);
    if (store == NULL)
        return err_set(err, ERR_NOMEM, "no room for sizings");
    const struct serving s = timeless(load);
    struct sizing_entry **of_load = &store->of_load[load_number(b, sku, &s)];
    struct sizing_entry **of_machine = &store->of_machine[machine_number(b, sku)];
    for (struct sizing_entry *e = *of_load; e != NULL; e = e->next_of_load)
        if (is_machine(e, sku) && same_load(&e->load, &s)) {
            if (e->machines_alone && !machines_alone)
                return size(b, sku, false, e, ret, err);
            if (!e->refused)
                *ret = e->sizing;
            return e->refused;
        }
    struct sizing_entry *e = arena_alloc(store->arena, sizeof *e);
    if (e == NULL)
        return err_set(err, ERR_NOMEM, "no room for sizings");
    *e = (struct sizing_entry){.gpu = sku->gpu, .intra = sku->intra, .gpus_per_node = sku->gpus_per_node};
    e->load = s;
    e->kept = kept_for(*of_machine, sku, &s);
    const int rc = size(b, sku, machines_alone, e, ret, err);
    if (rc < 0)
        return -1;
    e->next_of_load = *of_load;
    *of_load = e;
    if (e->kept != NULL) {
        e->next_of_machine = *of_machine;
        *of_machine = e;
    }
    return rc;
}

int build_sizing(struct build *b, const struct sku *sku, const struct serving *load, struct serving_sizing *ret,
                 struct err *err)
{
    return sizing_of(b, sku, load, false, ret, err);
}

int build_sizing_machines(struct build *b, const struct sku *sku, const struct serving *load,
                          struct serving_sizing *ret, struct err *err)
{
    return sizing_of(b, sku, load, true, ret, err);
}

void build_count_sizings(const struct build *look, struct build *b)
{
    b->n_sized += look->n_sized;
    b->n_measured += look->n_measured;
    b->n_sizings += look->n_sizings;
}

void build_inherit(const struct build *from, struct build *to)
{
    market_inherit(&from->market, &to->market);
    memcpy(to->day_costs, from->day_costs, sizeof to->day_costs);
    if (!(to->day.reprice.factor > 0) || to->day.reprice.subject == SUBJECT_SKU)
        to->unit_prices = from->unit_prices;
    const struct model *a = build_served_model(from), *b = build_served_model(to);
    if (memcmp(a, b, sizeof *a) != 0)
        return;
    to->sizings = from->sizings;
    to->batches = from->batches;
}
