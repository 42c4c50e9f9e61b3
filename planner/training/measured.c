/* measured.c — fits the two scales of a job (compute, communication) to what was read.
 *
 * The reading is modelled on its own shape and layout first. A speed on one machine tells how far compute is off; a
 * reading whose step is mostly communication tells more about the network, so the correction is shared by the two in
 * proportion to what the step consists of. A stated communication share splits the reading instead of the model, a
 * utilisation under what a busy card shows leaves the rest of the step to waiting that no faster card shortens, and a
 * two-node speed-up moves the bandwidth between nodes until the model shows the same speed-up.
 */
#include "planner/training/measured.h"

#include <math.h>
#include <string.h>

#define SOLVER_STEPS 24

enum { FITTED_MAX = 12, NETWORKS_MAX = 24 };

/* What a reading sets of a job. */
struct scales {
    double compute, comm, time, wait_s;
};

/* What came of the readings on one shape of the measured machine. */
struct fitted {
    struct shape shape;
    struct reading reading;
    struct scales scales;
};

/* What came of a two-node speed-up on one kind of node. */
struct fitted_network {
    struct shape node;
    int batch_one, batch_two;
    struct scales scales;      /* it was fitted under */
    double alone_tokens_per_s; /* of one such node; whatever joins it to others */
    double network_scale;
};

struct training_readings {
    struct fitted fitted[FITTED_MAX];
    struct fitted_network networks[NETWORKS_MAX];
    int n_fitted, n_networks;
};

size_t training_readings_size(void)
{
    return sizeof(struct training_readings);
}

/* The measured job: same model and method, its own shape, batch and layout. */
struct bench {
    struct job job;
    struct training training;
    struct layout layout;
};

static int pick(int first, int second)
{
    return first > 0 ? first : second;
}

/* What the reading does not say about its layout is taken from the layout asked for, as far as it is no size. */
static struct layout bench_layout(const struct layout *read, const struct layout *asked)
{
    struct layout l = *read;
    if (asked == NULL)
        return l;
    l.tp = pick(l.tp, asked->tp);
    l.cp = pick(l.cp, asked->cp);
    l.micro_batch = pick(l.micro_batch, asked->micro_batch);
    if (l.sharding == SHARD_UNSTATED)
        l.sharding = asked->sharding;
    if (l.recompute == RECOMPUTE_UNSTATED)
        l.recompute = asked->recompute;
    if (l.flash_attention == TRI_UNSTATED)
        l.flash_attention = asked->flash_attention;
    if (l.offload == OFFLOAD_UNSTATED)
        l.offload = asked->offload;
    if (l.grad_sync == GRAD_SYNC_UNSTATED)
        l.grad_sync = asked->grad_sync;
    return l;
}

static int bench_resolve(const struct training_constants *k, const struct training_request *q, struct bench *b,
                         struct err *err)
{
    const struct measured *m = q->measured;
    const struct gpu *gpu = q->measured_gpu != NULL ? q->measured_gpu : q->shape->gpu;
    struct shape shape = *q->shape;
    int gpus = pick(m->gpus, 1), nodes = pick(m->nodes, 1);
    shape.gpu = gpu;
    shape.nodes = nodes;
    shape.gpus_per_node = gpus / nodes > 0 ? gpus / nodes : 1;
    if (gpu != q->shape->gpu) {
        shape.intra = INTRA_UNSTATED;
        shape.gpu_memory_gb = 0;
    }
    shape.host_memory_gb = 0; /* what ran had enough */
    if (nodes == 1) {
        shape.inter = INTER_NONE;
        shape.inter_gbps_per_node = 0;
    }
    b->training = *q->training;
    if (m->seq_len > 0)
        b->training.seq_len = m->seq_len;
    /* Another number of cards with an unstated batch kept the batch of one card, not of the whole job. */
    b->training.global_batch = m->global_batch;
    b->layout = bench_layout(&m->layout, q->layout);
    struct training_request r = *q;
    r.training = &b->training;
    r.shape = &shape;
    r.layout = q->layout; /* the same software */
    r.measured = NULL;
    if (job_resolve(k, &r, NULL, &b->job, err) != 0)
        return -1;
    return 0;
}

static double read_rate(const struct measured *m, const struct bench *b, double batch)
{
    double real = b->job.seq * b->job.real_share;
    if (m->tokens_per_s > 0)
        return m->tokens_per_s;
    if (m->samples_per_s > 0)
        return m->samples_per_s * real;
    if (m->step_time_s > 0)
        return batch * real / m->step_time_s;
    return 0;
}

static int check_physics(const struct measured *m, const struct bench *b, double rate, struct err *err)
{
    double per_card = rate / b->job.gpus * job_flops_per_token(&b->job) / b->job.real_share;
    double peak = b->job.peak;
    if (b->training.precision == PREC_UNSTATED) /* the reading may well be of the card's narrowest format */
        peak = fmax(peak, 1e12 * fmax(b->job.gpu->fp8_tflops, b->job.gpu->fp4_tflops));
    if (per_card <= peak * b->job.k->reading_tolerance)
        return 0;
    const char *at = m->tokens_per_s > 0    ? "/workload/measured/tokens_per_s"
                     : m->samples_per_s > 0 ? "/workload/measured/samples_per_s"
                                            : "/workload/measured/step_time_s";
    return err_at(err, ERR_RANGE, at, "the reading means %.4g TFLOP/s a card, above the %.4g the card can do at most",
                  per_card / 1e12, peak / 1e12);
}

static double modelled_rate(const struct job *j, const struct cut *c, const struct memory *m, struct step *ret)
{
    struct fabric f;
    fabric_resolve(j, &f);
    step_time(j, &f, c, m, ret);
    return ret->tokens_per_s;
}

/* Scales that make the model give `rate`: compute by x, communication by x to the power of its share. */
static void fit_scales(struct job *j, const struct candidate *k, double rate)
{
    struct step s = k->step;
    double share = s.communication_share;
    for (int i = 0; i < SOLVER_STEPS; i++) {
        double now = modelled_rate(j, &k->cut, &k->memory, &s);
        double off = now / rate;
        if (fabs(off - 1) < 1e-9)
            break;
        double compute = fmax(0.02, 1 - s.communication_share);
        /* Compute is only part of the step: move it by the whole difference over that part, damped. */
        double move = pow(off, fmin(2, 1 / fmax(compute, 0.5)));
        j->compute_scale = fmin(50, fmax(0.02, j->compute_scale * move));
        j->comm_scale = fmin(50, fmax(0.02, pow(j->compute_scale, share)));
    }
    /* Host-bound steps do not follow their kernels; what is left is carried over as it is. */
    j->time_scale = modelled_rate(j, &k->cut, &k->memory, &s) / rate;
}

/* A stated share of communication splits the read step. */
static void split_by_share(struct job *j, const struct candidate *k, double rate, double share)
{
    for (int i = 0; i < SOLVER_STEPS; i++) {
        struct step s;
        double now = modelled_rate(j, &k->cut, &k->memory, &s);
        double target = 1 / rate, step = 1 / now;
        double comm = s.communication_share * step, rest = step - comm;
        if (comm > 1e-15)
            j->comm_scale = fmin(1e3, fmax(1e-3, j->comm_scale * sqrt(share * target / comm)));
        j->compute_scale = fmin(1e3, fmax(1e-3, j->compute_scale * sqrt((1 - share) * target / rest)));
    }
    struct step s;
    j->time_scale = modelled_rate(j, &k->cut, &k->memory, &s) / rate;
}

/* Share of the read step in which no kernel ran: the cards waited for data or their host. */
static double idle_share(const struct training_constants *k, const struct measured *m)
{
    return m->gpu_util_pct < 0 ? 0 : fmin(0.95, fmax(0, 1 - m->gpu_util_pct / 100 / k->reading_busy));
}

static int reference_layout(const struct job *j, const struct layout *l, struct found *ret, struct err *err)
{
    struct fabric f;
    fabric_resolve(j, &f);
    return search_best_layout(j, &f, l, ret, err);
}

static int speed_reading(const struct training_request *q, struct bench *b, struct scales *to, struct reading *r,
                         struct err *err)
{
    const struct measured *m = q->measured;
    struct found found;
    if (reference_layout(&b->job, &b->layout, &found, err) != 0)
        return -1;
    double rate = read_rate(m, b, found.best.cut.global_batch);
    r->gpus = b->job.gpus;
    if (rate <= 0)
        return 0;
    if (check_physics(m, b, rate, err) != 0)
        return -1;
    r->used = true;
    r->tokens_per_s = rate;
    r->communication_share = found.best.step.communication_share;
    double idle = idle_share(b->job.k, m), busy_rate = rate / (1 - idle);
    if (m->comm_share_pct >= 0)
        split_by_share(&b->job, &found.best, busy_rate, fmin(0.98, m->comm_share_pct / 100 / (1 - idle)));
    else
        fit_scales(&b->job, &found.best, busy_rate);
    /* A node that feeds its cards so slowly does so on the next machine too. */
    *to = (struct scales){b->job.compute_scale, b->job.comm_scale, b->job.time_scale, idle / rate * b->job.shape.nodes};
    return 0;
}

/* The batch of the two-node test: the job's on both nodes, half of it on one; 0 = not stated. It does not depend on how
 * many nodes the job will have, so that one reading gives a network one speed. */
static int batch_on(const struct job *j, int nodes)
{
    return j->global_batch > 0 ? (int)fmax(1, (double)j->global_batch * nodes / 2) : j->global_batch;
}

/* The job on so many nodes of its own and the layout it would run with there. -1: nowhere. */
static int job_on_nodes(const struct job *base, const struct layout *l, int nodes, struct job *ret, struct found *found)
{
    struct err ignored;
    struct layout free_size = *l;
    free_size.dp = 0;
    *ret = *base;
    ret->shape.nodes = nodes;
    ret->gpus = ret->shape.gpus_per_node * nodes;
    ret->global_batch = batch_on(base, nodes);
    return reference_layout(ret, &free_size, found, &ignored);
}

/* Bandwidth between nodes at which two of them are as much faster than one as was read. The layouts are those of the
 * network as it is described: the reading moves its speed, not the software. */
static void fit_network(struct job *j, const struct layout *l, double speedup, double *alone_tokens_per_s)
{
    static const struct layout open = {0};
    struct job one, two;
    struct found alone, together;
    double low = 1e-3, high = 30;
    if (!(*alone_tokens_per_s > 0)) {
        if (job_on_nodes(j, l != NULL ? l : &open, 1, &one, &alone) != 0)
            return;
        *alone_tokens_per_s = alone.best.step.tokens_per_s;
    }
    if (job_on_nodes(j, l != NULL ? l : &open, 2, &two, &together) != 0)
        return;
    const double wanted = *alone_tokens_per_s * speedup;
    const struct candidate *best = &together.best;
    struct compute kernels; /* know no network */
    compute_micro_batch(&two, &best->cut, &kernels);
    for (int i = 0; i < 14; i++) {
        struct step s;
        struct fabric f;
        two.network_scale = sqrt(low * high);
        fabric_resolve(&two, &f);
        step_with(&two, &f, &best->cut, &best->memory, &kernels, &s);
        if (s.tokens_per_s < wanted)
            low = two.network_scale;
        else
            high = two.network_scale;
    }
    j->network_scale = sqrt(low * high);
}

static int memory_reading(const struct training_request *q, const struct bench *b, struct reading *r, struct err *err)
{
    struct found found;
    if (reference_layout(&b->job, &b->layout, &found, err) != 0)
        return -1;
    double most = shape_usable_bytes(&b->job.shape) * 1.1;
    double read = q->measured->peak_memory_gb * 1e9;
    if (read > most)
        return err_at(err, ERR_RANGE, "/workload/measured/peak_memory_gb", "%.4g GB read on a card of %.4g GB",
                      q->measured->peak_memory_gb, most / 1.1 / 1e9);
    r->memory_used = true;
    r->memory_offset = read - found.best.memory.total;
    return 0;
}

/* All that the readings say of the machine they were taken on. */
static int fit(const struct training_request *q, struct bench *b, struct fitted *ret, struct err *err)
{
    *ret = (struct fitted){.shape = b->job.shape, .scales = {1, 1, 1, 0}};
    if (speed_reading(q, b, &ret->scales, &ret->reading, err) != 0)
        return -1;
    if (q->measured->peak_memory_gb > 0 && memory_reading(q, b, &ret->reading, err) != 0)
        return -1;
    return 0;
}

static int fit_once(const struct training_request *q, struct bench *b, struct fitted *ret, struct err *err)
{
    struct training_readings *kept = q->readings;
    for (int i = 0; kept != NULL && i < kept->n_fitted; i++)
        if (shape_same(&kept->fitted[i].shape, &b->job.shape)) {
            *ret = kept->fitted[i];
            return 0;
        }
    if (fit(q, b, ret, err) != 0)
        return -1;
    if (kept != NULL && kept->n_fitted < FITTED_MAX)
        kept->fitted[kept->n_fitted++] = *ret;
    return 0;
}

static bool same_network(const struct fitted_network *a, const struct fitted_network *b)
{
    return shape_same(&a->node, &b->node) && a->batch_one == b->batch_one && a->batch_two == b->batch_two &&
           memcmp(&a->scales, &b->scales, sizeof a->scales) == 0;
}

static bool same_node(const struct fitted_network *a, const struct fitted_network *b)
{
    struct shape one = a->node, other = b->node;
    one.inter = other.inter;
    one.inter_gbps_per_node = other.inter_gbps_per_node;
    return shape_same(&one, &other) && a->batch_one == b->batch_one &&
           memcmp(&a->scales, &b->scales, sizeof a->scales) == 0;
}

static void fit_network_once(const struct training_request *q, const struct scales *scales, struct job *j)
{
    struct training_readings *kept = q->readings;
    struct fitted_network now = {
        .node = j->shape, .batch_one = batch_on(j, 1), .batch_two = batch_on(j, 2), .scales = *scales};
    now.node.nodes = 1;
    for (int i = 0; kept != NULL && i < kept->n_networks; i++) {
        const struct fitted_network *known = &kept->networks[i];
        if (same_network(known, &now)) {
            j->network_scale = known->network_scale;
            return;
        }
        if (same_node(known, &now))
            now.alone_tokens_per_s = known->alone_tokens_per_s;
    }
    fit_network(j, q->layout, q->measured->two_node_speedup, &now.alone_tokens_per_s);
    now.network_scale = j->network_scale;
    if (kept != NULL && kept->n_networks < NETWORKS_MAX)
        kept->networks[kept->n_networks++] = now;
}

int measured_apply(const struct training_request *q, struct job *j, struct reading *ret, struct err *err)
{
    struct bench b;
    struct fitted f;
    if (bench_resolve(j->k, q, &b, err) != 0 || fit_once(q, &b, &f, err) != 0)
        return -1;
    j->compute_scale = f.scales.compute;
    j->comm_scale = f.scales.comm;
    j->time_scale = f.scales.time;
    j->wait_s = f.scales.wait_s;
    if (q->measured->two_node_speedup > 0 && j->shape.nodes > 1)
        fit_network_once(q, &f.scales, j);
    struct reading r = f.reading;
    r.same_work = b.job.gpu == j->gpu && j->seq >= b.job.seq && b.job.gpus <= j->gpus;
    r.same_shape = b.job.gpu == j->gpu && b.job.gpus == j->gpus && b.job.seq == j->seq;
    *ret = r;
    return 0;
}
