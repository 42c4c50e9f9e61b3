/* build_physics.c — physics once per distinct shape, for a plan and for the plans made of it.
 *
 * A plan's estimates stand in a store of its own; a plan made of it for the same work asks that store, so that what one
 * of them finds out serves all. What a plan has asked for itself is counted: its search is bounded by it.
 */
#include "planner/drafting/build.h"

#include <math.h>

#include "planner/training/run.h"

enum { ESTIMATED = 4 }; /* what an estimate costs besides its layouts, in layouts */

struct physics_store {
    const struct build *of; /* whose work it is, and whose arena it lives in */
    struct physics_entry *entries[PHYSICS_BUCKETS];
    int searched;
};

static size_t bucket_of(const struct build *b, const struct shape *s)
{
    size_t h = (size_t)(s->gpu - b->catalog->gpus);
    h = h * 31 + (size_t)s->gpus_per_node;
    h = h * 31 + (size_t)s->nodes;
    h = h * 31 + (size_t)s->inter_gbps_per_node + (size_t)s->inter;
    return h % PHYSICS_BUCKETS;
}

static int estimate_work(const struct build *b, const struct shape *shape, struct estimate *ret, struct err *err)
{
    const struct workload *w = b->workload;
    if (b->training.method == METHOD_EMBEDDING)
        return embedding_estimate(b->serving_k, &w->model, &b->training, shape, b->arena, ret, err);
    struct training_request r = {
        .model = &w->model,
        .training = &b->training,
        .measured = w->measured.stated ? &w->measured : NULL,
        .measured_gpu = b->measured_gpu,
        .shape = shape,
        .prudent = true,
        .readings = b->readings,
    };
    return training_estimate(b->training_k, &r, b->arena, ret, err);
}

/* An estimate of runs that take `by` times as long because the card is slower. */
static void slow_down(struct estimate *e, double by)
{
    struct training_estimate *t = &e->training;
    t->step_time_s *= by;
    t->wall_hours *= by;
    t->gpu_hours *= by;
    t->tokens_per_s /= by;
    t->tokens_per_s_per_gpu /= by;
    t->tokens_per_s_per_gpu_low /= by;
    t->tokens_per_s_per_gpu_high /= by;
    t->samples_per_s /= by;
}

static bool is_slowed(const struct slowdown *s, const struct gpu *gpu)
{
    return s->by > 0 && (s->gpu == NULL || s->gpu == gpu);
}

static const struct estimate *find(struct physics_entry *const *head, const struct shape *shape)
{
    for (const struct physics_entry *e = *head; e != NULL; e = e->next)
        if (shape_same(&e->shape, shape))
            return e->estimate;
    return NULL;
}

static int insert(struct physics_entry **head, const struct shape *shape, const struct estimate *estimate,
                  struct arena *arena, struct err *err)
{
    struct physics_entry *entry = arena_alloc(arena, sizeof *entry);
    if (entry == NULL)
        return err_set(err, ERR_NOMEM, "no room for estimates");
    *entry = (struct physics_entry){*shape, estimate, *head};
    *head = entry;
    return 0;
}

/* Of the work as the store's plan has it, on the card as it is. */
static const struct estimate *stored(struct physics_store *s, const struct shape *shape, struct err *err)
{
    struct physics_entry **head = &s->entries[bucket_of(s->of, shape)];
    const struct estimate *known = find(head, shape);
    if (known != NULL)
        return known;
    struct estimate *estimate = arena_alloc(s->of->arena, sizeof *estimate);
    if (estimate == NULL) {
        err_set(err, ERR_NOMEM, "no room for estimates");
        return NULL;
    }
    if (estimate_work(s->of, shape, estimate, err) != 0 || insert(head, shape, estimate, s->of->arena, err) != 0)
        return NULL;
    s->searched += ESTIMATED + estimate->training.searched;
    return estimate;
}

int build_searched(const struct build *b)
{
    return b->store != NULL ? b->store->searched : 0;
}

bool build_spent(struct build *b)
{
    b->cut_short |= b->searched_most > 0 && build_searched(b) > b->searched_most;
    return b->cut_short;
}

static struct physics_store *store_of(struct build *b)
{
    if (b->store == NULL && (b->store = arena_alloc(b->arena, sizeof *b->store)) != NULL)
        b->store->of = b;
    return b->store;
}

static double value_of(const struct build *b, const char *key)
{
    const struct param *p = param_find(&b->params, key);
    return p != NULL ? p->value : 0;
}

/* The run's overhead is (1 + lost + evaluation) / effectiveness - 1, of which faults and checkpoints are the part that
 * moves: what writing a checkpoint takes follows from how far apart they are best. */
static double overhead_with(const struct build *b, const struct training_estimate *t, int cards, double factor)
{
    const double between = value_of(b, "train.failure_gpu_hours") / cards, restart = value_of(b, "train.restart_hours");
    if (!(t->checkpoint_interval_h > 0) || !(between > 0))
        return t->run_overhead; /* not reckoned with faults */
    const double write = t->checkpoint_interval_h * t->checkpoint_interval_h / (2 * between);
    const double lost = run_failure_share(write, between, restart, NULL);
    const double kept = (1 + lost + value_of(b, "train.evaluation_share")) / (1 + t->run_overhead);
    return t->run_overhead + (run_failure_share(write, between * factor, restart, NULL) - lost) / kept;
}

double build_faults_ratio(const struct build *b, const struct estimate *e, int cards, double factor)
{
    const struct training_estimate *t = &e->training;
    const double all = b->a.run_overhead_factor;
    return e->has_training && cards > 0
               ? (1 + overhead_with(b, t, cards, factor) * all) / (1 + fmax(0, t->run_overhead) * all)
               : 1;
}

static void change_faults(const struct build *b, struct training_estimate *t, int cards, double factor)
{
    const double overhead = overhead_with(b, t, cards, factor);
    const double ratio = (1 + overhead) / (1 + t->run_overhead);
    t->wall_hours *= ratio;
    t->gpu_hours *= ratio;
    t->run_overhead = overhead;
    t->checkpoint_interval_h *= sqrt(factor);
}

/* The estimate itself, or a copy of it for another amount of work, a slower card or other faults; NULL: no room. */
static const struct estimate *as_asked(struct build *b, const struct estimate *e, double work, const struct gpu *gpu,
                                       int cards)
{
    const double slower = is_slowed(&b->slowdown, gpu) ? b->slowdown.by : 1;
    const double faults = b->faults.factor > 0 && b->faults.tier == NULL ? b->faults.factor : 1;
    if (!(work < 1) && !(work > 1) && !(slower < 1) && !(slower > 1) && !(faults < 1) && !(faults > 1))
        return e;
    struct estimate *own = arena_room(b->arena, 1, sizeof *own);
    if (own == NULL)
        return NULL;
    *own = *e;
    own->training.wall_hours *= work;
    own->training.gpu_hours *= work;
    slow_down(own, slower);
    if (own->has_training && (faults < 1 || faults > 1))
        change_faults(b, &own->training, cards, faults);
    return own;
}

const struct estimate *build_physics_again(struct build *b, const struct estimate *e, const struct gpu *gpu, int cards)
{
    return as_asked(b, e, b->work, gpu, cards);
}

const struct estimate *build_physics(struct build *b, const struct shape *shape, struct err *err)
{
    struct physics_entry **head = &b->physics[bucket_of(b, shape)];
    for (struct physics_entry *e = *head; e != NULL; e = e->next)
        if (shape_same(&e->shape, shape))
            return e->estimate;
    struct physics_store *store = store_of(b);
    const struct estimate *e = store != NULL ? stored(store, shape, err) : NULL;
    if (e == NULL)
        return store != NULL ? NULL : (err_set(err, ERR_NOMEM, "no room for estimates"), NULL);
    e = as_asked(b, e, store->of != b ? b->work : 1, shape->gpu, shape_gpus(shape));
    if (e == NULL || insert(head, shape, e, b->arena, err) != 0) {
        err_set(err, ERR_NOMEM, "no room for estimates");
        return NULL;
    }
    b->n_physics++;
    return e;
}

void build_inherit_physics(const struct build *from, double work, struct build *to)
{
    to->store = from->store;
    to->work = work;
}
