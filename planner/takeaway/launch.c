/* launch.c — which texts an option comes with, and the door of the launch text. */
#include "planner/takeaway/launch.h"

#include "base/buf.h"
#include "planner/drafting/build.h"
#include "planner/takeaway/launch_text.h"
#include "planner/takeaway/takeaway.h"

#define LAUNCH_TEXT_MAX 16384

typedef void writer(struct buf *b, const struct launch_request *q);

/* Runs one writer and keeps its text in the arena. */
static int keep(writer *write, const struct launch_request *q, struct arena *arena, const char **ret, struct err *err)
{
    struct buf b;
    buf_init(&b, LAUNCH_TEXT_MAX);
    write(&b, q);
    char *text = buf_failed(&b) || !b.data ? NULL : arena_strndup(arena, b.data, b.len);
    buf_done(&b);
    if (!text)
        return err_set(err, ERR_NOMEM, "launch text does not fit");
    *ret = text;
    return 0;
}

/* Slurm where its users are: clusters and research machines. */
static bool wants_slurm(const struct launch_request *q)
{
    return q->workload->training.stated &&
           (q->shape->nodes > 1 || q->kind == KIND_UNIVERSITY_TIME ||
            (q->sku && q->sku->provider && q->sku->provider->kind == PROVIDER_HPC_CENTRE));
}

/* Kubernetes where the supply is containers or the team works that way. */
static bool wants_kubernetes(const struct launch_request *q)
{
    if (!q->workload->training.stated || q->kind == KIND_UNIVERSITY_TIME)
        return false;
    bool containers = q->sku && (q->sku->form == FORM_CONTAINER || q->sku->form == FORM_CONTAINER_CLUSTER);
    return containers || q->workload->constraints.team == TEAM_KUBERNETES;
}

int launch_make(const struct launch_request *q, struct arena *arena, struct launch *ret, struct err *err)
{
    struct launch out = {0};
    const bool service = launch_serving_layout(q) != NULL;
    if (q->workload->training.stated && keep(launch_text_torchrun, q, arena, &out.torchrun, err))
        return -1;
    if (launch_uses_deepspeed(q->workload, &q->estimate->layout) &&
        keep(launch_deepspeed_add, q, arena, &out.deepspeed_config, err))
        return -1;
    if (wants_slurm(q) && keep(launch_text_slurm, q, arena, &out.slurm, err))
        return -1;
    if (wants_kubernetes(q) && keep(launch_text_kubernetes, q, arena, &out.kubernetes, err))
        return -1;
    if (service && keep(launch_text_serve, q, arena, &out.serve, err))
        return -1;
    *ret = out;
    return 0;
}

/* Numbers of the text that neither the request nor the layout states. */
static int bind(const struct build *b, struct launch_request *q, struct err *err)
{
    const struct {
        const char *key;
        double *to;
    } rows[] = {
        {launch_learning_rate_key(b->training.method), &q->learning_rate},
        {"launch_checkpoints_per_job", &q->checkpoints_per_job},
        {"train.default_seq", &q->default_seq_tokens},
        {"train.default_lora_rank", &q->default_lora_rank},
        {"reserve_input_tokens", &q->reserve_input_tokens},
        {"reserve_output_tokens", &q->reserve_output_tokens},
        {"serve_default_input_tokens", &q->serve_default_input_tokens},
        {"serve_default_output_tokens", &q->serve_default_output_tokens},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct param *p = param_find(&b->params, rows[i].key);
        if (!p)
            return err_set(err, ERR_NOT_FOUND, "assumption %s is missing", rows[i].key);
        *rows[i].to = p->value;
    }
    return 0;
}

int launch_build(struct build *b, const struct draft *d, struct option *option, struct err *err)
{
    struct launch_request q = {
        .workload = b->workload,
        .estimate = d->estimate,
        .shape = &d->shape,
        .sku = d->n_groups > 0 && d->groups[d->train_group].offer ? d->groups[d->train_group].offer->sku : NULL,
        .reserve = &option->reserve,
        .kind = d->kind,
    };
    if (bind(b, &q, err))
        return -1;
    return d->estimate ? launch_make(&q, b->arena, &option->launch, err) : 0;
}
