/* hardware.c — names of cards' classes and links, and the few facts every room derives from a shape. */
#include "planner/core/hardware.h"

#include <string.h>

#include "planner/core/names.h"

static const char *const CLASSES[GPU_CLASS_COUNT] = {
    [GPU_CLASS_OTHER] = "other",
    [GPU_VOLTA] = "volta",
    [GPU_TURING] = "turing",
    [GPU_AMPERE] = "ampere",
    [GPU_AMPERE_GDDR] = "ampere_gddr",
    [GPU_ADA] = "ada",
    [GPU_HOPPER] = "hopper",
    [GPU_BLACKWELL] = "blackwell",
    [GPU_BLACKWELL_GDDR] = "blackwell_gddr",
    [GPU_CDNA2] = "cdna2",
    [GPU_CDNA3] = "cdna3",
    [GPU_CDNA4] = "cdna4",
    [GPU_ASCEND] = "ascend",
};

static const char *const INTRA[INTRA_COUNT] = {
    [INTRA_NVSWITCH] = "nvswitch", [INTRA_NVLINK] = "nvlink", [INTRA_NVLINK_BRIDGE] = "nvlink_bridge",
    [INTRA_XGMI] = "xgmi",         [INTRA_HCCS] = "hccs",     [INTRA_PCIE3] = "pcie3",
    [INTRA_PCIE4] = "pcie4",       [INTRA_PCIE5] = "pcie5",
};

static const char *const INTER[INTER_COUNT] = {
    [INTER_INFINIBAND] = "infiniband",
    [INTER_ROCE] = "roce",
    [INTER_ETHERNET] = "ethernet",
};

const char *gpu_class_name(enum gpu_class c)
{
    const char *name = names_get(CLASSES, GPU_CLASS_COUNT, (int)c);
    return name != NULL ? name : CLASSES[GPU_CLASS_OTHER];
}

int gpu_class_parse(const char *name, enum gpu_class *ret)
{
    int v;
    if (names_parse(CLASSES, GPU_CLASS_COUNT, name, &v) != 0)
        return -1;
    *ret = (enum gpu_class)v;
    return 0;
}

const char *intra_link_name(enum intra_link l)
{
    return names_get(INTRA, INTRA_COUNT, (int)l);
}

int intra_link_parse(const char *name, enum intra_link *ret)
{
    int v;
    if (names_parse(INTRA, INTRA_COUNT, name, &v) != 0)
        return -1;
    *ret = (enum intra_link)v;
    return 0;
}

const char *inter_link_name(enum inter_link l)
{
    return names_get(INTER, INTER_COUNT, (int)l);
}

int inter_link_parse(const char *name, enum inter_link *ret)
{
    int v;
    if (names_parse(INTER, INTER_COUNT, name, &v) != 0)
        return -1;
    *ret = (enum inter_link)v;
    return 0;
}

bool gpu_runs_cuda(const struct gpu *g)
{
    return strcmp(g->vendor, "NVIDIA") == 0;
}

int shape_gpus(const struct shape *s)
{
    return s->gpus_per_node * s->nodes;
}

static bool same_number(double a, double b)
{
    return !(a < b) && !(a > b);
}

bool shape_same(const struct shape *a, const struct shape *b)
{
    return a->gpu == b->gpu && a->gpus_per_node == b->gpus_per_node && a->nodes == b->nodes && a->intra == b->intra &&
           a->inter == b->inter && same_number(a->inter_gbps_per_node, b->inter_gbps_per_node) &&
           same_number(a->gpu_memory_gb, b->gpu_memory_gb) && same_number(a->host_memory_gb, b->host_memory_gb) &&
           same_number(a->storage_gb_s, b->storage_gb_s);
}

double shape_usable_bytes(const struct shape *s)
{
    double usable = s->gpu->usable_gib * BYTES_PER_GIB;
    if (s->gpu_memory_gb > 0 && s->gpu->memory_gb > 0)
        usable *= s->gpu_memory_gb / s->gpu->memory_gb;
    return usable;
}

static bool has(const char *text, const char *part)
{
    return text != NULL && strcasestr(text, part) != NULL;
}

static enum intra_link pcie_link(const struct gpu *gpu)
{
    return gpu->pcie_gen >= 5 ? INTRA_PCIE5 : gpu->pcie_gen == 3 ? INTRA_PCIE3 : INTRA_PCIE4;
}

/* What the vendor builds into the machine the card comes in. A bridge joins two cards only, so machines of more are
 * as fast as their PCIe; an SXM2 Volta is a mesh without switch; other makers' own links behave like NVLink. */
enum intra_link hardware_default_intra(const struct gpu *gpu, int gpus_per_node)
{
    if (gpus_per_node <= 1)
        return INTRA_NONE;
    if (has(gpu->link_type, "bridge"))
        return gpus_per_node == 2 ? (has(gpu->link_type, "infinity") ? INTRA_XGMI : INTRA_NVLINK_BRIDGE)
                                  : pcie_link(gpu);
    if (has(gpu->link_type, "hccs") || (gpu->link_type != NULL && strcmp(gpu->link_type, "UB") == 0))
        return INTRA_HCCS;
    if (has(gpu->link_type, "xgmi") || has(gpu->link_type, "infinity fabric"))
        return INTRA_XGMI;
    if (has(gpu->link_type, "nvlink"))
        return has(gpu->form_factor, "sxm2") ? INTRA_NVLINK : INTRA_NVSWITCH;
    if (gpu->link_gb_s_bidir > 0)
        return INTRA_NVLINK;
    return pcie_link(gpu);
}
