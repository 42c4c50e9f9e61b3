/* catalog_hardware.c — models, GPUs, links, networks, storages and schedulers as JSON. */
#include <stdio.h>
#include <string.h>

#include "api/catalog_read.h"

static void copy_id(char out[COLLECTION_ID_MAX], const char *id)
{
    (void)snprintf(out, COLLECTION_ID_MAX, "%s", id);
}

static const char *name_of(const struct encode *e, const char *zh, const char *en)
{
    return e->language == LANG_ZH_CN ? zh : en;
}

static void provenance(struct encode *e, const char *source, const char *date, const char *confidence, const char *note)
{
    jw_string(&e->w, "source", source);
    jw_string(&e->w, "source_date", date);
    jw_string(&e->w, "confidence", confidence);
    jw_string(&e->w, "note", note && *note ? note : NULL);
}

#define COLLECTION(stem, list, wire, filter_list)                                                                      \
    static size_t stem##_count(const struct catalog *c)                                                                \
    {                                                                                                                  \
        return c->n_##list;                                                                                            \
    }                                                                                                                  \
    static void stem##_id(const struct catalog *c, size_t i, char out[COLLECTION_ID_MAX])                              \
    {                                                                                                                  \
        copy_id(out, c->list[i].id);                                                                                   \
    }                                                                                                                  \
    const struct collection collection_##list = {wire,          stem##_count,     stem##_id,                           \
                                                 stem##_encode, stem##_attribute, filter_list}

/* ---- models ------------------------------------------------------------------------------------------------ */

static void model_encode(struct encode *e, size_t i)
{
    const struct model *m = &e->catalog->models[i];
    struct jw *w = &e->w;
    jw_object(w, NULL);
    jw_string(w, "id", m->id);
    encode_model(e, "architecture", m);
    jw_string(w, "name", m->name);
    jw_number_or_null(w, "params_b", m->params / 1e9);
    jw_number_or_null(w, "active_params_b", m->active_params / 1e9);
    jw_number_or_null(w, "flops_per_sample", m->flops_per_sample);
    jw_string(w, "source", m->source);
    jw_string(w, "source_date", m->source_date);
    jw_string(w, "confidence", m->confidence);
    jw_end_object(w);
}

static const char *model_attribute(const struct catalog *c, size_t i, const char *filter)
{
    (void)filter;
    return c->models[i].causal == TRI_NO ? "encoder" : c->models[i].experts > 0 ? "moe" : "dense";
}

static const char *const kind_only[] = {"kind", NULL};
static const char *const no_filters[] = {NULL};
COLLECTION(model, models, "models", kind_only);

/* ---- GPUs -------------------------------------------------------------------------------------------------- */

static void gpu_rates(struct jw *w, const struct gpu *g)
{
    jw_number_or_null(w, "bf16_tflops", g->bf16_tflops);
    jw_number_or_null(w, "fp16_tflops", g->fp16_tflops);
    jw_number_or_null(w, "fp8_tflops", g->fp8_tflops);
    jw_number_or_null(w, "fp4_tflops", g->fp4_tflops);
    jw_number_or_null(w, "int8_tops", g->int8_tops);
    jw_number_or_null(w, "tf32_tflops", g->tf32_tflops);
    jw_number_or_null(w, "fp32_tflops", g->fp32_tflops);
}

static void gpu_encode(struct encode *e, size_t i)
{
    const struct gpu *g = &e->catalog->gpus[i];
    struct jw *w = &e->w;
    jw_object(w, NULL);
    jw_string(w, "id", g->id);
    jw_string(w, "name", g->name);
    jw_string(w, "vendor", g->vendor);
    jw_string(w, "gpu_class", gpu_class_name(g->gpu_class));
    jw_string(w, "form_factor", g->form_factor);
    jw_number(w, "memory_gb", g->memory_gb);
    jw_number(w, "usable_gib", g->usable_gib);
    jw_bool(w, "usable_measured", g->usable_measured);
    jw_string(w, "memory_type", g->memory_type);
    jw_number_or_null(w, "memory_bandwidth_gb_s", g->mem_bw_gb_s);
    gpu_rates(w, g);
    jw_string(w, "link_type", g->link_type);
    jw_number_or_null(w, "link_gb_s_bidirectional", g->link_gb_s_bidir);
    jw_bool(w, "through_host", g->through_host);
    jw_bool(w, "link_mesh", g->link_mesh);
    jw_bool(w, "coherent_host", g->coherent_host);
    jw_int_or_null(w, "rack_cards", g->rack_cards);
    jw_int_or_null(w, "pcie_generation", g->pcie_gen);
    jw_number_or_null(w, "tdp_w", g->tdp_w);
    jw_int_or_null(w, "year", g->year);
    jw_bool(w, "rentable", g->rentable);
    jw_array(w, "aliases");
    for (size_t k = 0; k < e->catalog->n_aliases; k++)
        if (e->catalog->aliases[k].gpu == g)
            jw_string(w, NULL, e->catalog->aliases[k].alias);
    jw_end_array(w);
    provenance(e, g->source, g->source_date, g->confidence, g->note);
    jw_end_object(w);
}

static const char *gpu_attribute(const struct catalog *c, size_t i, const char *filter)
{
    const struct gpu *g = &c->gpus[i];
    if (strcmp(filter, "vendor") == 0)
        return g->vendor;
    if (strcmp(filter, "rentable") == 0)
        return g->rentable ? "true" : "false";
    return gpu_class_name(g->gpu_class);
}

static const char *const gpu_filters[] = {"vendor", "gpu_class", "rentable", NULL};
COLLECTION(gpu, gpus, "gpus", gpu_filters);

/* ---- links, networks, storages, schedulers ----------------------------------------------------------------- */

static void link_encode(struct encode *e, size_t i)
{
    const struct link *l = &e->catalog->links[i];
    struct jw *w = &e->w;
    jw_object(w, NULL);
    jw_string(w, "id", l->id);
    jw_string(w, "name", l->name);
    jw_string(w, "kind", intra_link_name(l->kind));
    jw_number_or_null(w, "gb_s_one_way", l->gb_s_one_way);
    provenance(e, l->source, l->source_date, NULL, l->note);
    jw_end_object(w);
}

static const char *link_attribute(const struct catalog *c, size_t i, const char *filter)
{
    (void)filter;
    return intra_link_name(c->links[i].kind);
}
COLLECTION(link, links, "links", kind_only);

static void network_encode(struct encode *e, size_t i)
{
    const struct network *n = &e->catalog->networks[i];
    struct jw *w = &e->w;
    jw_object(w, NULL);
    jw_string(w, "id", n->id);
    jw_string(w, "name", name_of(e, n->name_zh, n->name_en));
    jw_string(w, "kind", inter_link_name(n->kind));
    jw_number_or_null(w, "gbps_per_node", n->gbps_per_node);
    jw_bool(w, "rdma", n->rdma);
    jw_bool(w, "dedicated_line", n->dedicated_line);
    provenance(e, n->source, n->source_date, NULL, n->note);
    jw_end_object(w);
}

static const char *network_attribute(const struct catalog *c, size_t i, const char *filter)
{
    (void)filter;
    return c->networks[i].dedicated_line ? "dedicated_line" : inter_link_name(c->networks[i].kind);
}
COLLECTION(network, networks, "networks", kind_only);

static void storage_encode(struct encode *e, size_t i)
{
    const struct storage *s = &e->catalog->storages[i];
    struct jw *w = &e->w;
    jw_object(w, NULL);
    jw_string(w, "id", s->id);
    jw_string(w, "name", name_of(e, s->name_zh, s->name_en));
    jw_string(w, "system", s->system);
    jw_bool(w, "parallel", s->parallel);
    jw_bool(w, "local", s->local);
    jw_number_or_null(w, "read_gb_s", s->read_gb_s);
    jw_number_or_null(w, "write_gb_s", s->write_gb_s);
    provenance(e, s->source, s->source_date, NULL, s->note);
    jw_end_object(w);
}

static const char *storage_attribute(const struct catalog *c, size_t i, const char *filter)
{
    (void)filter;
    return c->storages[i].system;
}
COLLECTION(storage, storages, "storages", kind_only);

static void scheduler_encode(struct encode *e, size_t i)
{
    const struct scheduler *s = &e->catalog->schedulers[i];
    jw_object(&e->w, NULL);
    jw_string(&e->w, "id", s->id);
    jw_string(&e->w, "name", s->name);
    provenance(e, s->source, s->source_date, NULL, s->note);
    jw_end_object(&e->w);
}

static const char *scheduler_attribute(const struct catalog *c, size_t i, const char *filter)
{
    (void)c;
    (void)i;
    (void)filter;
    return NULL;
}
COLLECTION(scheduler, schedulers, "schedulers", no_filters);
