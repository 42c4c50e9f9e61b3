/* checklist.c — what the customer verifies on the machine before the money flows, and what he asks the supplier.
 *
 * One table: a row is said when everything in its `when` holds of the option. Commands are the maker's own.
 */
#include <math.h>
#include <string.h>

#include "planner/takeaway/takeaway.h"
#include "planner/takeaway/vendor.h"

enum {
    WHEN_ALWAYS = 0,
    WHEN_CARDS = 1 << 0,   /* more than one card in a node */
    WHEN_CLUSTER = 1 << 1, /* more than one node */
    WHEN_INFINIBAND = 1 << 2,
    WHEN_ROCE = 1 << 3,
    WHEN_ETHERNET = 1 << 4,
    WHEN_SPOT = 1 << 5,
    WHEN_SENSITIVE = 1 << 6,
    WHEN_UNIVERSITY = 1 << 7,
    WHEN_HYBRID = 1 << 8,
    WHEN_COMMITTED = 1 << 9,      /* a month or a year is bought */
    WHEN_SHARED_FABRIC = 1 << 10, /* the catalog does not say that bandwidth is dedicated */
    WHEN_COMMERCIAL = 1 << 11,
    WHEN_CONTAINER = 1 << 12,
    WHEN_BARE = 1 << 13,
    WHEN_NVIDIA = 1 << 14,
    WHEN_OTHER_MAKER = 1 << 15
};

/* Commands that depend on the maker. */
static const char use_list[] = "list", use_topology[] = "topology", use_torch[] = "torch",
                  use_collective[] = "collective", use_nodes[] = "nodes";

struct row {
    const char *code, *text;
    unsigned when;
    const char *command; /* NULL: a question */
};

static const struct row rows[] = {
    {"card_model", "check_card_model", WHEN_ALWAYS, use_list},
    {"topology", "check_topology", WHEN_CARDS | WHEN_NVIDIA, use_topology},
    {"topology", "check_topology_other", WHEN_CARDS | WHEN_OTHER_MAKER, use_topology},
    {"host", "check_host", WHEN_ALWAYS, "lscpu | grep -E 'Model name|Socket|NUMA node' && free -g"},
    {"nvme", "check_nvme", WHEN_ALWAYS,
     "lsblk -d -o NAME,SIZE,MODEL,ROTA && fio --name=seq --filename=/data/fio.tmp --rw=read --bs=1M --size=20G "
     "--direct=1 "
     "--numjobs=4 --group_reporting"},
    {"framework", "check_framework", WHEN_ALWAYS, use_torch},
    {"all_reduce", "check_all_reduce", WHEN_CARDS, use_collective},
    {"infiniband", "check_infiniband", WHEN_CLUSTER | WHEN_INFINIBAND, "ibstat | grep -E 'State|Rate'"},
    {"infiniband_path", "check_infiniband_path", WHEN_CLUSTER | WHEN_INFINIBAND,
     "ibping -S   # on one node; on the other: ibping -c 1000 -G PORT_GUID"},
    {"rdma", "check_rdma", WHEN_CLUSTER | WHEN_ROCE,
     "rdma link show && ib_write_bw --report_gbits   # then: ib_write_bw HOST"},
    {"ethernet", "check_ethernet", WHEN_CLUSTER | WHEN_ETHERNET,
     "iperf3 -s   # on one node; on the other: iperf3 -c HOST -P 8"},
    {"all_reduce_nodes", "check_all_reduce_nodes", WHEN_CLUSTER, use_nodes},
    {"two_node_gate", "check_two_node_gate", WHEN_CLUSTER, NULL},
    {"storage", "check_storage", WHEN_CLUSTER,
     "df -hT /shared && fio --name=seq --directory=/shared --rw=read --bs=4M --size=50G --direct=1 --numjobs=8 "
     "--group_reporting"},
    {"scheduler", "check_scheduler", WHEN_CLUSTER,
     "sinfo -o '%P %D %G %l' || kubectl describe nodes | grep -A8 Allocatable"},
    {"line", "check_line", WHEN_HYBRID, "iperf3 -c CLOUD_HOST -P 8 && ping -c 100 CLOUD_HOST"},
    {"ask_stock", "ask_stock", WHEN_COMMERCIAL, NULL},
    {"ask_replacement", "ask_replacement", WHEN_ALWAYS, NULL},
    {"ask_bandwidth", "ask_bandwidth", WHEN_CLUSTER | WHEN_SHARED_FABRIC, NULL},
    {"ask_same_switch", "ask_same_switch", WHEN_CLUSTER, NULL},
    {"ask_images", "ask_images", WHEN_CONTAINER, NULL},
    {"ask_root", "ask_root", WHEN_BARE, NULL},
    {"ask_term", "ask_term", WHEN_COMMITTED, NULL},
    {"ask_traffic", "ask_traffic", WHEN_COMMERCIAL, NULL},
    {"ask_preemption", "ask_preemption", WHEN_SPOT, NULL},
    {"ask_isolation", "ask_isolation", WHEN_SENSITIVE, NULL},
    {"ask_agreement", "ask_agreement", WHEN_UNIVERSITY, NULL},
    {"ask_off_peak", "ask_off_peak", WHEN_UNIVERSITY, NULL},
    {"ask_invoice", "ask_invoice", WHEN_ALWAYS, NULL},
};

enum { ROWS = sizeof rows / sizeof *rows };

static unsigned fabric_flag(enum inter_link inter)
{
    switch (inter) {
    case INTER_INFINIBAND:
        return WHEN_INFINIBAND;
    case INTER_ROCE:
        return WHEN_ROCE;
    case INTER_ETHERNET:
        return WHEN_ETHERNET;
    case INTER_NONE:
    case INTER_COUNT:
        break;
    }
    return 0;
}

static unsigned supply_flags(const struct sku *sku)
{
    unsigned flags = 0;
    if (!sku->bandwidth_dedicated)
        flags |= WHEN_SHARED_FABRIC;
    if (sku->provider->kind != PROVIDER_UNIVERSITY)
        flags |= WHEN_COMMERCIAL;
    flags |= sku->form == FORM_CONTAINER || sku->form == FORM_CONTAINER_CLUSTER ? WHEN_CONTAINER : WHEN_BARE;
    return flags;
}

/* Cards of one machine as rented: several runs may share it. */
static int cards_of(const struct draft *d)
{
    return d->n_groups > 0 ? d->groups[d->train_group].cards : d->shape.gpus_per_node;
}

/* What holds of the option. */
static unsigned flags_of(const struct build *b, const struct draft *d, const struct option *o)
{
    unsigned flags = fabric_flag(d->shape.inter);
    flags |= strcmp(vendor_tools_of(d->shape.gpu)->vendor, "NVIDIA") == 0 ? WHEN_NVIDIA : WHEN_OTHER_MAKER;
    if (cards_of(d) > 1)
        flags |= WHEN_CARDS;
    if (d->shape.nodes > 1)
        flags |= WHEN_CLUSTER;
    if (d->kind == KIND_HYBRID_CLOUD)
        flags |= WHEN_HYBRID;
    if (d->kind == KIND_UNIVERSITY_TIME)
        flags |= WHEN_UNIVERSITY;
    if (b->workload->constraints.data_sensitive)
        flags |= WHEN_SENSITIVE;
    for (size_t i = 0; i < o->n_supply; i++) {
        if (o->supply[i].mode == MODE_SPOT)
            flags |= WHEN_SPOT;
        if (o->supply[i].mode == MODE_MONTHLY || o->supply[i].mode == MODE_ANNUAL)
            flags |= WHEN_COMMITTED;
    }
    if (d->n_groups > 0 && d->groups[d->train_group].offer)
        flags |= supply_flags(d->groups[d->train_group].offer->sku);
    return flags;
}

/* The maker's command with the number of cards in its place. */
static const char *collective(const char *command, int cards, struct arena *arena)
{
    const char *mark = strstr(command, "%d");
    return mark ? arena_printf(arena, "%.*s%d%s", (int)(mark - command), command, cards, mark + 2) : command;
}

static const char *command_of(const struct row *r, const struct draft *d, struct arena *arena)
{
    const struct vendor_tools *tools = vendor_tools_of(d->shape.gpu);
    if (r->command == use_list)
        return tools->list;
    if (r->command == use_topology)
        return tools->topology;
    if (r->command == use_torch)
        return tools->torch_check;
    if (r->command == use_collective)
        return collective(tools->collective_test, cards_of(d), arena);
    if (r->command == use_nodes)
        return arena_printf(arena,
                            "torchrun --nnodes=2 --nproc-per-node=%d --rdzv-backend=c10d "
                            "--rdzv-endpoint=\"$MASTER_ADDR:29500\" all_reduce_bench.py",
                            cards_of(d));
    return r->command;
}

/* Figures that the sentence of a row may use; unused ones do no harm. */
static void add_figures(struct note *text, const struct build *b, const struct draft *d)
{
    const struct shape *s = &d->shape;
    const char *link =
        intra_link_name(s->intra != INTRA_UNSTATED ? s->intra : hardware_default_intra(s->gpu, s->gpus_per_node));
    note_text(text, "gpu", s->gpu->name);
    note_num(text, "cards", cards_of(d));
    note_num(text, "nodes", d->n_groups > 0 ? d->groups[d->train_group].units : s->nodes);
    note_num(text, "memory_gb", s->gpu_memory_gb > 0 ? s->gpu_memory_gb : s->gpu->memory_gb);
    note_text(text, "link", link ? link : "pcie");
    note_num(text, "gbps", s->inter_gbps_per_node);
    note_num(text, "host_gb",
             s->host_memory_gb > 0 ? s->host_memory_gb
             : d->estimate         ? d->estimate->training.host_memory_gb
                                   : 0);
    note_num(text, "gate", b->a.two_node_gate);
}

int checklist_build(struct build *b, const struct draft *d, struct option *option, struct err *err)
{
    const unsigned flags = flags_of(b, d, option);
    struct checklist_item *items = arena_array(b->arena, ROWS, sizeof *items);
    size_t n = 0;
    if (!items)
        return err_set(err, ERR_NOMEM, "checklist does not fit");
    for (size_t i = 0; i < ROWS; i++) {
        if ((rows[i].when & flags) != rows[i].when)
            continue;
        struct checklist_item *item = &items[n++];
        item->code = rows[i].code;
        item->text = (struct note){.code = rows[i].text, .short_by = NAN};
        add_figures(&item->text, b, d);
        if (rows[i].command && !(item->command = command_of(&rows[i], d, b->arena)))
            return err_set(err, ERR_NOMEM, "checklist does not fit");
    }
    option->checklist = items;
    option->n_checklist = n;
    return 0;
}
