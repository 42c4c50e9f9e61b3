/* option_serving.c — see option_serving.h. */
#include "planner/offers/option_serving.h"

#include "planner/drafting/extras.h"
#include "planner/drafting/phases.h"

static int add_draft(struct build *b, enum option_kind kind, const struct reserve_plan *r, struct option_list *out)
{
    struct draft *d = build_draft_new(b, kind);
    if (d == NULL)
        return -1;
    int cards =
        r->by_card ? (r->sizing.gpus_per_replica > 0 ? r->sizing.gpus_per_replica : 1) : r->offer->sku->gpus_per_node;
    d->reserve = r;
    d->train_group = draft_add_group(d, r->offer, "serve", r->by_card, cards, 1);
    d->estimate = &r->sizing.at_peak;
    d->shape = build_shape(b, r->offer->sku, cards, 1, NULL);
    note_num(note_text(note_add(&d->reasons, "serving_sized"), "gpu", r->offer->sku->gpu->name), "replicas",
             r->sizing.replicas);
    if (phases_standard(b, d, d->train_group, d->train_group, 1, 0) != 0 || extras_standard(b, d) != 0)
        return -1;
    return build_keep(b, out, d);
}

/* The nearest miss of those that were sized: the fewest machines, then the fewest cards. */
static void refuse_size(struct build *b, enum option_kind kind, const struct reserve_plan *r, int machines)
{
    bool cluster = kind == KIND_SMALL_CLUSTER;
    int have = r->offer->sku->gpus_per_node;
    struct note *n = build_refuse(b, kind, cluster ? "inference_fits" : "serving_exceeds_machine");
    if (n->n_args > 0 && (cluster || n->short_by <= r->sizing.gpus - have))
        return;
    n->short_by = cluster ? n->short_by : r->sizing.gpus - have;
    note_num(note_text(n, "gpu", r->offer->sku->gpu->name), "machines", machines);
    note_num(note_num(n, "gpus", r->sizing.gpus), "have", have);
}

int option_serving_build(struct build *b, enum option_kind kind, struct option_list *out, struct err *err)
{
    bool cluster = kind == KIND_SMALL_CLUSTER;
    if (b->reserve.offer == NULL) {
        if (b->reserve.missing && b->reserve.why_not.code != NULL)
            *build_refuse(b, kind, b->reserve.why_not.code) = b->reserve.why_not;
        else if (b->reserve.any_offer)
            build_refuse(b, kind, "reserve_missing");
        build_refuse_supply(b, kind, b->reserve.any_offer);
        return 0;
    }
    for (size_t i = 0; i <= b->n_alternatives; i++) {
        const struct reserve_plan *r = i == 0 ? &b->reserve : &b->alternatives[i - 1];
        const int machines = reserve_plan_machines(r);
        if ((machines > 1) != cluster) {
            refuse_size(b, kind, r, machines);
            continue;
        }
        if (add_draft(b, kind, r, out) != 0)
            return err_set(err, ERR_NOMEM, "no room for a serving option");
    }
    return 0;
}
