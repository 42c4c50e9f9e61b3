/* test_seed_facts.c — what the shipped catalog must be: complete, dated, and honest about what it does not know. */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/money.h"
#include "tests/support/test_catalog.h"

static bool text(const char *s)
{
    return s && s[0] != '\0';
}

static const date_t today = 20787; /* 2026-11-30 */

Test(seed_facts, counts)
{
    const struct catalog *c = test_catalog();
    size_t priced = 0, of_mode[MODE_COUNT] = {0}, networks = 0, gpus = 0;
    bool seen[512] = {false};
    cr_assert_eq(today, date_from_civil(2026, 11, 30));
    cr_assert_leq(c->n_gpus, 512u);
    for (size_t i = 0; i < c->n_prices; i++) {
        const struct price *p = &c->prices[i];
        if (p->subject != SUBJECT_SKU || p->micros == 0)
            continue;
        priced++;
        of_mode[p->mode]++;
        seen[p->sku->gpu - c->gpus] = true;
    }
    for (size_t i = 0; i < c->n_gpus; i++)
        gpus += seen[i];
    for (size_t i = 0; i < c->n_networks; i++)
        networks += !c->networks[i].dedicated_line;
    cr_assert_geq(priced, 150u, "%zu price rows of machines", priced);
    cr_assert_geq(gpus, 25u, "%zu GPUs with a price", gpus);
    for (int m = 0; m < MODE_COUNT; m++)
        cr_assert_geq(of_mode[m], 20u, "%s: %zu", pricing_mode_name((enum pricing_mode)m), of_mode[m]);
    cr_assert_geq(c->n_models, 60u);
    cr_assert_geq(networks, 6u);
    cr_assert_geq(c->n_storages, 6u);
    cr_assert_geq(c->n_schedulers, 3u);
    cr_assert_geq(c->n_links, 8u);
    cr_assert_geq(c->n_purchases, 10u);
    cr_assert_geq(c->n_lines, 10u);
}

/* A card that can be rented but that nobody quotes is named here: its plan says price_missing, and a price found for it
 * must leave this list. Whoever adds a card without a price adds it here, and says so. */
Test(seed_facts, cards_that_nobody_quotes_are_known)
{
    static const char *const unquoted[] = {"a30-24g",       "ascend-910b1-64g", "ascend-910b4-32g", "ascend-950pr-128g",
                                           "dcu-k100-64g",  "dcu-k100ai-64g",   "dcu-z100-32g",     "gh200-144g",
                                           "h800-pcie-80g", "kunlun-p800-96g",  "metax-c500-64g",   "metax-c600-144g",
                                           "mi210-64g",     "mi250x-128g",      "mi355x-288g",      "mlu370-x8-48g",
                                           "rtx-4090-48g"};
    const struct catalog *c = test_catalog();
    for (size_t g = 0; g < c->n_gpus; g++) {
        bool priced = false, listed = false;
        for (size_t i = 0; i < c->n_prices; i++)
            priced |=
                c->prices[i].subject == SUBJECT_SKU && c->prices[i].micros > 0 && c->prices[i].sku->gpu == &c->gpus[g];
        for (size_t i = 0; i < sizeof unquoted / sizeof *unquoted; i++)
            listed |= strcmp(c->gpus[g].id, unquoted[i]) == 0;
        if (c->gpus[g].rentable)
            cr_expect_neq(priced, listed, "%s: %s", c->gpus[g].id, priced ? "has a price" : "has none");
    }
}

Test(seed_facts, every_price_says_where_it_comes_from)
{
    const struct catalog *c = test_catalog();
    for (size_t i = 0; i < c->n_prices; i++) {
        const struct price *p = &c->prices[i];
        cr_assert(text(p->source) && text(p->confidence), "%s has no source or confidence", p->id);
        cr_assert_neq(p->observed_on, DATE_NONE, "%s has no date", p->id);
        cr_assert_leq(p->observed_on, today, "%s was observed in the future", p->id);
        cr_assert_neq(p->effective_from, DATE_NONE, "%s", p->id);
        cr_assert_eq(p->micros == 0, p->state == PRICE_QUOTE_ONLY || p->free_of_charge, "%s: price of 0", p->id);
        cr_assert(p->state != PRICE_QUOTE_ONLY || (p->micros == 0 && p->micros_high == 0 && !p->free_of_charge),
                  "%s: quote_only with an amount", p->id);
        cr_assert_eq(p->state == PRICE_DERIVED, text(p->rule), "%s: a derived price names its rule", p->id);
        cr_assert(p->state != PRICE_DERIVED || text(p->note), "%s: a derived price says what it was derived from",
                  p->id);
        cr_assert(p->micros_high == 0 || p->micros_high >= p->micros, "%s", p->id);
        cr_assert(p->mode != MODE_SPOT || p->spot_interruptions_per_h > 0, "%s", p->id);
        bool weak = strcmp(p->confidence, "low") == 0 || strcmp(p->confidence, "illustrative_seed") == 0;
        cr_assert(!weak || p->state != PRICE_FIRM, "%s: %s confidence, but firm", p->id, p->confidence);
    }
}

Test(seed_facts, every_row_has_a_source)
{
    const struct catalog *c = test_catalog();
#define SOURCED(list)                                                                                                  \
    for (size_t i = 0; i < c->n_##list; i++)                                                                           \
    cr_assert(text(c->list[i].source) && text(c->list[i].source_date), #list " %s", c->list[i].id)
    SOURCED(gpus);
    SOURCED(models);
    SOURCED(providers);
    SOURCED(links);
    SOURCED(networks);
    SOURCED(storages);
    SOURCED(schedulers);
    SOURCED(skus);
    SOURCED(lines);
#undef SOURCED
    for (size_t i = 0; i < c->params.n; i++)
        cr_assert(text(c->params.rows[i].source) && text(c->params.rows[i].evidence), "%s", c->params.rows[i].key);
    for (size_t i = 0; i < c->n_providers; i++)
        cr_assert(text(c->providers[i].confidence), "%s", c->providers[i].id);
}

/* The latest price of a SKU in a mode, as micros per card: an hour, 730 hours of a month, 12 months of a year. */
static double per_card(const struct catalog *c, const struct sku *s, enum pricing_mode mode, const char *class)
{
    const struct price *p = catalog_sku_price(c, s, mode, class, date_from_civil(2026, 12, 1));
    if (!p || p->micros == 0)
        return 0;
    double v = (double)p->micros;
    bool node = p->unit == UNIT_NODE_HOUR || p->unit == UNIT_NODE_MONTH || p->unit == UNIT_NODE_YEAR;
    bool year_by_month = mode == MODE_ANNUAL && (p->unit == UNIT_NODE_MONTH || p->unit == UNIT_GPU_MONTH);
    return v / (node ? s->gpus_per_node : 1) * (year_by_month ? 12 : 1);
}

Test(seed_facts, longer_commitments_are_cheaper)
{
    const struct catalog *c = test_catalog();
    size_t compared = 0;
    for (size_t i = 0; i < c->n_skus; i++) {
        const struct sku *s = &c->skus[i];
        double hour = per_card(c, s, MODE_HOURLY, ""), month = per_card(c, s, MODE_MONTHLY, ""),
               year = per_card(c, s, MODE_ANNUAL, ""), spot = per_card(c, s, MODE_SPOT, "");
        cr_assert(!(hour > 0 && month > 0) || month < hour * 730, "%s: month not below 730 hours", s->id);
        cr_assert(!(month > 0 && year > 0) || year < month * 12, "%s: year not below 12 months", s->id);
        cr_assert(!(spot > 0 && hour > 0) || spot < hour, "%s: spot not below hourly", s->id);
        compared += hour > 0 && month > 0;
    }
    cr_assert_geq(compared, 60u);
}

/* domain.md 6: monthly is 50 to 60 % of the hourly price. */
Test(seed_facts, monthly_share_of_hourly)
{
    const struct catalog *c = test_catalog();
    for (size_t i = 0; i < c->n_prices; i++) {
        const struct price *p = &c->prices[i];
        if (p->subject != SUBJECT_SKU || strcmp(p->rule, "monthly_share_of_hourly") != 0)
            continue;
        double share = per_card(c, p->sku, MODE_MONTHLY, "") / (730 * per_card(c, p->sku, MODE_HOURLY, ""));
        cr_assert(share >= 0.49 && share <= 0.61, "%s: %.3f", p->id, share);
    }
}

/* domain.md 6: local IDC is 20 to 35 % below public cloud; A100 80 GB 12 to 25 yuan a card-hour; H20/H800 1.5 to 2x. */
Test(seed_facts, price_points_of_the_trade)
{
    static const char *const cities[] = {"hefei", "shenzhen", "wuhan"};
    const struct catalog *c = test_catalog();
    for (size_t k = 0; k < 3; k++) {
        double local = 0, cloud = 0, newer = 0;
        int n_local = 0, n_cloud = 0, n_newer = 0;
        for (size_t i = 0; i < c->n_skus; i++) {
            const struct sku *s = &c->skus[i];
            double hour = per_card(c, s, MODE_HOURLY, "") / 1e6;
            if (strcmp(s->provider->city, cities[k]) != 0 || hour == 0)
                continue;
            bool idc = s->provider->kind == PROVIDER_LOCAL_IDC, public = s->provider->kind == PROVIDER_PUBLIC_CLOUD;
            bool a100 = strcmp(s->gpu->id, "a100-sxm4-80g") == 0;
            if (a100 && (idc || public))
                cr_assert(hour >= 12 && hour <= 25, "%s: %.2f yuan", s->id, hour);
            if (a100 && idc)
                local += hour, n_local++;
            if (a100 && public)
                cloud += hour, n_cloud++;
            if (idc && (strncmp(s->gpu->id, "h20-", 4) == 0 || strcmp(s->gpu->id, "h800-sxm5-80g") == 0))
                newer += hour, n_newer++;
        }
        cr_assert(n_local && n_cloud && n_newer, "%s", cities[k]);
        local /= n_local, cloud /= n_cloud, newer /= n_newer;
        cr_assert(local / cloud >= 0.65 && local / cloud <= 0.80, "%s: local at %.2f of cloud", cities[k],
                  local / cloud);
        cr_assert(newer / local >= 1.5 && newer / local <= 2.0, "%s: H20/H800 at %.2f of A100", cities[k],
                  newer / local);
    }
}

Test(seed_facts, every_named_supplier)
{
    static const char *const ids[] = {"iflytek",
                                      "leinao",
                                      "hefei-acc",
                                      "jianmi-cloud",
                                      "kufan-cloud",
                                      "huawei-cloud-hefei",
                                      "huawei-cloud-shenzhen",
                                      "huawei-cloud-wuhan",
                                      "aliyun-hefei",
                                      "aliyun-shenzhen",
                                      "aliyun-wuhan",
                                      "tencent-cloud-hefei",
                                      "tencent-cloud-shenzhen",
                                      "tencent-cloud-wuhan",
                                      "volcengine-hefei",
                                      "volcengine-shenzhen",
                                      "volcengine-wuhan",
                                      "hefei-zhengwu-idc",
                                      "hefei-xinzhan-idc",
                                      "hefei-hightech-idc",
                                      "hefei-economic-idc",
                                      "wuhan-optics-valley-idc",
                                      "ustc",
                                      "hfut"};
    const struct catalog *c = test_catalog();
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const struct provider *p = catalog_provider(c, ids[i]);
        cr_assert_not_null(p, "%s", ids[i]);
        size_t skus = 0;
        for (size_t k = 0; k < c->n_skus; k++)
            skus += c->skus[k].provider == p && c->skus[k].n_prices > 0;
        cr_assert_geq(skus, 1u, "%s sells nothing", ids[i]);
    }
    for (size_t i = 0; i < c->n_providers; i++) {
        const struct provider *p = &c->providers[i];
        cr_assert_eq(p->abroad, strcmp(p->city, "overseas") == 0, "%s", p->id);
        cr_assert(!p->abroad || !p->data_stays, "%s", p->id);
        if (p->kind == PROVIDER_UNIVERSITY)
            cr_assert(p->job_cap_h > 0 && p->queue_p90_h > p->queue_median_h && !p->serves, "%s", p->id);
    }
}

Test(seed_facts, every_named_gpu_link_storage_scheduler)
{
    static const char *const gpus[] = {"a100-40g", "a100-80g", "h100", "h800", "h20",  "rtx 4090", "ascend 910b",
                                       "910a",     "a800",     "h200", "l20",  "l40s", "rtx 5090"};
    static const struct {
        enum inter_link kind;
        double gbps;
    } fabrics[] = {{INTER_ETHERNET, 10},    {INTER_ETHERNET, 25},    {INTER_ETHERNET, 100},   {INTER_ROCE, 100},
                   {INTER_INFINIBAND, 200}, {INTER_INFINIBAND, 400}, {INTER_INFINIBAND, 3200}};
    static const char *const systems[] = {"nvme", "nfs", "lustre", "gpfs", "beegfs", "object"};
    static const char *const schedulers[] = {"slurm", "kubernetes", "ray"};
    static const enum intra_link links[] = {INTRA_NVSWITCH, INTRA_NVLINK, INTRA_PCIE3,
                                            INTRA_PCIE4,    INTRA_PCIE5,  INTRA_HCCS};
    const struct catalog *c = test_catalog();
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
        cr_assert_not_null(catalog_gpu(c, gpus[i]), "%s", gpus[i]);
    for (size_t i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        bool found = false;
        for (size_t k = 0; k < c->n_networks; k++)
            found |= c->networks[k].kind == fabrics[i].kind && c->networks[k].gbps_per_node == fabrics[i].gbps;
        cr_assert(found, "fabric %zu", i);
    }
    for (size_t i = 0; i < 6; i++) {
        bool found = false;
        for (size_t k = 0; k < c->n_storages; k++)
            found |= strcmp(c->storages[k].system, systems[i]) == 0;
        cr_assert(found, "%s", systems[i]);
    }
    for (size_t i = 0; i < 3; i++)
        cr_assert_not_null(catalog_scheduler(c, schedulers[i]), "%s", schedulers[i]);
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        bool found = false;
        for (size_t k = 0; k < c->n_links; k++)
            found |= c->links[k].kind == links[i];
        cr_assert(found, "%s", intra_link_name(links[i]));
    }
}

Test(seed_facts, names_as_the_tools_print_them)
{
    static const char *const pairs[][2] = {{"NVIDIA A800-SXM4-80GB", "a800-sxm4-80g"},
                                           {"NVIDIA A800 80GB PCIe", "a800-pcie-80g"},
                                           {"NVIDIA A100-SXM4-80GB", "a100-sxm4-80g"},
                                           {"NVIDIA A100-SXM4-40GB", "a100-sxm4-40g"},
                                           {"NVIDIA A100-PCIE-40GB", "a100-pcie-40g"},
                                           {"NVIDIA A100 80GB PCIe", "a100-pcie-80g"},
                                           {"NVIDIA H100 80GB HBM3", "h100-sxm5-80g"},
                                           {"NVIDIA H100 PCIe", "h100-pcie-80g"},
                                           {"NVIDIA H800", "h800-sxm5-80g"},
                                           {"NVIDIA H20", "h20-sxm5-96g"},
                                           {"NVIDIA H20-3e", "h20-sxm5-141g"},
                                           {"NVIDIA H200", "h200-sxm5-141g"},
                                           {"NVIDIA GeForce RTX 4090", "rtx-4090-24g"},
                                           {"NVIDIA GeForce RTX 4090 D", "rtx-4090d-24g"},
                                           {"NVIDIA GeForce RTX 5090", "rtx-5090-32g"},
                                           {"NVIDIA GeForce RTX 3090", "rtx-3090-24g"},
                                           {"NVIDIA L20", "l20-48g"},
                                           {"NVIDIA L40S", "l40s-48g"},
                                           {"Tesla T4", "t4-16g"},
                                           {"Tesla V100-SXM2-32GB", "v100-sxm2-32g"},
                                           {"910B3", "ascend-910b3-64g"},
                                           {"昇腾910B", "ascend-910b3-64g"}};
    const struct catalog *c = test_catalog();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct gpu *g = catalog_gpu(c, pairs[i][0]);
        cr_assert_not_null(g, "%s", pairs[i][0]);
        cr_assert_str_eq(g->id, pairs[i][1], "%s", pairs[i][0]);
    }
}

/* Every city has every kind of supply, priced, single and clustered. */
Test(seed_facts, three_cities)
{
    static const char *const cities[] = {"hefei", "shenzhen", "wuhan"};
    const struct catalog *c = test_catalog();
    for (size_t k = 0; k < 3; k++) {
        bool kind[PROVIDER_KIND_COUNT] = {false}, single = false, cluster_rdma = false, cluster_10g = false,
             campus = false;
        for (size_t i = 0; i < c->n_skus; i++) {
            const struct sku *s = &c->skus[i];
            bool off_peak = per_card(c, s, MODE_HOURLY, "partner") > 0;
            if (strcmp(s->provider->city, cities[k]) != 0 || !off_peak)
                continue;
            kind[s->provider->kind] = true;
            single |= s->sold_by_card;
            cluster_rdma |=
                s->max_nodes > 1 && s->network && s->network->rdma && s->provider->kind == PROVIDER_LOCAL_IDC;
            cluster_10g |= s->max_nodes > 1 && s->network && s->network->gbps_per_node == 10;
            campus |= s->provider->kind == PROVIDER_UNIVERSITY;
        }
        cr_assert(kind[PROVIDER_LOCAL_IDC] && kind[PROVIDER_PUBLIC_CLOUD] && campus && kind[PROVIDER_HPC_CENTRE], "%s",
                  cities[k]);
        cr_assert(single && cluster_rdma && cluster_10g, "%s: single %d, RDMA %d, 10G %d", cities[k], single,
                  cluster_rdma, cluster_10g);
    }
}

static bool has_line(const struct catalog *c, enum provider_kind kind, const char *city, const char *to)
{
    for (size_t i = 0; i < c->n_lines; i++) {
        const struct dedicated_line *l = &c->lines[i];
        if (l->a->kind == kind && strcmp(l->a->city, city) == 0 && strcmp(l->b->id, to) == 0)
            return true;
    }
    return false;
}

Test(seed_facts, what_else_costs)
{
    const struct catalog *c = test_catalog();
    const date_t on = date_from_civil(2026, 11, 30);
    int64_t rate;
    date_t rate_on;
    cr_assert(has_line(c, PROVIDER_LOCAL_IDC, "hefei", "jianmi-cloud"));
    cr_assert(has_line(c, PROVIDER_LOCAL_IDC, "hefei", "huawei-cloud-hefei"));
    for (size_t i = 0; i < c->n_lines; i++)
        cr_assert_not_null(catalog_price(c, SUBJECT_LINE, c->lines[i].id, NULL, UNIT_MONTH, on), "%s", c->lines[i].id);
    for (size_t i = 0; i < c->n_storages; i++)
        cr_assert_not_null(catalog_price(c, SUBJECT_STORAGE, c->storages[i].id, NULL, UNIT_GB_MONTH, on), "%s",
                           c->storages[i].id);
    for (size_t i = 0; i < c->n_schedulers; i++)
        cr_assert_not_null(catalog_price(c, SUBJECT_SOFTWARE, c->schedulers[i].id, NULL, UNIT_NODE_MONTH, on));
    static const char *const teams[] = {"none", "single_node", "slurm", "kubernetes", "expert"};
    for (size_t i = 0; i < 5; i++)
        cr_assert_not_null(catalog_price(c, SUBJECT_OPERATIONS, teams[i], NULL, UNIT_MONTH, on), "%s", teams[i]);
    size_t by_mbps = 0;
    for (size_t i = 0; i < c->n_providers; i++) {
        const struct provider *p = &c->providers[i];
        cr_assert_not_null(catalog_price(c, SUBJECT_EGRESS, p->id, p, UNIT_GB, on), "egress of %s", p->id);
        by_mbps += catalog_price(c, SUBJECT_EGRESS, p->id, p, UNIT_MBPS_MONTH, on) != NULL;
    }
    cr_assert_geq(by_mbps, 10u);
    /* whoever has a cluster has a price (or a known nothing) for its fabric */
    for (size_t i = 0; i < c->n_skus; i++) {
        const struct sku *s = &c->skus[i];
        if (s->max_nodes == 1)
            continue;
        cr_assert_not_null(s->network, "%s has nodes, but no fabric", s->id);
        cr_assert_not_null(catalog_price(c, SUBJECT_NETWORK, s->network->id, s->provider, UNIT_NODE_MONTH, on), "%s",
                           s->id);
    }
    cr_assert_eq(catalog_tax(c, "service_6", on, &rate), 0);
    cr_assert_eq(rate, 600);
    cr_assert_eq(catalog_tax(c, "lease_13", on, &rate), 0);
    cr_assert_eq(rate, 1300);
    cr_assert_eq(catalog_tax(c, "lease_13", date_from_civil(2019, 3, 31), &rate), 0);
    cr_assert_eq(rate, 1600);
    cr_assert_eq(catalog_fx(c, "USD", "CNY", on, &rate, &rate_on), 0);
    cr_assert(rate > 5 * MONEY_MICROS && rate < 9 * MONEY_MICROS);
    for (size_t i = 0; i < c->n_skus; i++)
        cr_assert_eq(catalog_tax(c, c->skus[i].tax_code, on, &rate), 0, "%s: tax code", c->skus[i].id);
    for (size_t i = 0; i < c->n_prices; i++)
        cr_assert_eq(catalog_fx(c, c->prices[i].currency, "CNY", on, &rate, &rate_on), 0, "%s", c->prices[i].id);
}

/* No two prices of one key hold on one day. */
Test(seed_facts, intervals_do_not_overlap)
{
    const struct catalog *c = test_catalog();
    for (size_t i = 0; i < c->n_prices; i++)
        for (size_t k = i + 1; k < c->n_prices && k < i + 40; k++) {
            const struct price *a = &c->prices[i], *b = &c->prices[k];
            if (a->subject != b->subject || a->sku != b->sku || a->provider != b->provider || a->mode != b->mode ||
                a->unit != b->unit || a->term_months != b->term_months || strcmp(a->user_class, b->user_class) != 0 ||
                strcmp(a->subject_id, b->subject_id) != 0)
                continue;
            bool apart = (a->effective_to != DATE_NONE && a->effective_to <= b->effective_from) ||
                         (b->effective_to != DATE_NONE && b->effective_to <= a->effective_from);
            cr_assert(apart, "%s and %s hold on the same day", a->id, b->id);
        }
}

/* What a rule says of one derived price beside others of the same seller: a ratio and the band it must be in. */
static double ratio_of(const struct catalog *c, const struct price *p, double *ret_low, double *ret_high)
{
    const struct sku *s = p->sku;
    double hour = per_card(c, s, MODE_HOURLY, p->user_class), month = per_card(c, s, MODE_MONTHLY, ""),
           year = per_card(c, s, MODE_ANNUAL, ""), spot = per_card(c, s, MODE_SPOT, "");
    char a100[128];
    snprintf(a100, sizeof a100, "%s-a100-sxm4-80g-x8", s->provider->id);
    const struct sku *sibling = catalog_sku(c, a100);
    double reference = sibling ? per_card(c, sibling, MODE_HOURLY, "") : 0;
    *ret_low = 1, *ret_high = 0;
    if (strcmp(p->rule, "annual_prepaid_discount") == 0) {
        *ret_low = 0.84, *ret_high = 0.86;
        return year / (12 * month);
    }
    if (strcmp(p->rule, "spot_share_of_hourly") == 0) {
        *ret_low = 0.39, *ret_high = 0.51;
        return spot / hour;
    }
    if (strcmp(p->rule, "user_class_ratio") == 0) {
        *ret_low = 1.3, *ret_high = 1.7;
        return hour / per_card(c, s, MODE_HOURLY, "internal");
    }
    if (reference > 0 && strcmp(p->rule, "new_card_ratio") == 0) {
        *ret_low = 1.5, *ret_high = 2.0;
        return hour / reference;
    }
    if (reference > 0 && strcmp(p->rule, "sibling_card") == 0) {
        *ret_low = 0.95, *ret_high = 0.97;
        return hour / reference;
    }
    return 0;
}

Test(seed_facts, derived_prices_keep_their_rule)
{
    static const char *const known[] = {"monthly_share_of_hourly",
                                        "annual_prepaid_discount",
                                        "spot_share_of_hourly",
                                        "local_below_cloud",
                                        "new_card_ratio",
                                        "market_ratio",
                                        "sibling_card",
                                        "market_sample_by_seller_level",
                                        "peer_tariff",
                                        "peer_public_cloud",
                                        "user_class_ratio",
                                        "infiniband_over_roce"};
    const struct catalog *c = test_catalog();
    size_t checked = 0;
    for (size_t i = 0; i < c->n_prices; i++) {
        const struct price *p = &c->prices[i];
        bool is_known = false;
        double low, high;
        if (p->state != PRICE_DERIVED)
            continue;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            is_known |= strcmp(p->rule, known[k]) == 0;
        cr_assert(is_known, "%s: rule %s is not in docs/storage.md", p->id, p->rule);
        if (p->subject != SUBJECT_SKU)
            continue;
        double ratio = ratio_of(c, p, &low, &high);
        if (low > high)
            continue;
        checked++;
        cr_assert(ratio >= low - 0.005 && ratio <= high + 0.005, "%s: %s gives %.3f", p->id, p->rule, ratio);
    }
    cr_assert_geq(checked, 120u, "%zu", checked);
}

/* What a tier of sellers is worth in faults, set-up and debugging is an assumption of that tier's name. */
Test(seed_facts, every_tier_is_described)
{
    const struct catalog *c = test_catalog();
    for (size_t i = 0; i < c->n_providers; i++) {
        char key[80];
        snprintf(key, sizeof key, "tier_%s_failure_factor", c->providers[i].tier);
        cr_assert_not_null(param_find(&c->params, key), "%s: %s", c->providers[i].id, key);
    }
}
