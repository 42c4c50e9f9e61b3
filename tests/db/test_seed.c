/* test_seed.c — what the shipped catalog must be: complete, dated, and honest about what it does not know. */
#include <criterion/criterion.h>

#include "tests/support/synthetic_catalog.h"
#include "tests/support/test_catalog.h"

Test(seed, loads_into_an_indexed_catalog)
{
    struct catalog *c = test_catalog();
    cr_assert_eq(c->revision, 1);
    cr_assert_geq(c->n_gpus, 60u);
    cr_assert_geq(c->n_models, 60u);
    cr_assert_not_null(catalog_gpu(c, "a100-sxm4-80g"));
}

Test(seed, a_small_catalog_of_ones_own)
{
    static const struct test_csv files[] = {
        {"providers.csv", "id,name_zh,name_en,kind,city,tier,support_level,source,confidence\n"
                          "p,甲,P,local_idc,hefei,standard,ticket,test,high\n"},
        {"skus.csv",
         "id,provider_id,gpu_id,gpus_per_node,form,source,confidence\ns,p,a100-sxm4-80g,8,bare_metal,t,high\n"},
        {"prices.csv", "id,subject,sku_id,mode,currency,unit,price,effective_from,observed_on,state,source,confidence\n"
                       "a,sku,s,hourly,CNY,node_hour,122.00,2026-01-01,2026-01-01,firm,t,high\n"
                       "b,sku,s,hourly,CNY,node_hour,123.5,2026-06-01,2026-06-01,firm,t,high\n"}};
    struct catalog *c = test_catalog_of(files, sizeof files / sizeof *files);
    const struct sku *s = catalog_sku(c, "s");
    cr_assert_not_null(s);
    cr_assert_str_eq(s->provider->name_zh, "甲");
    cr_assert_eq(s->n_prices, 2u);
    const struct price *p = catalog_sku_price(c, s, MODE_HOURLY, "", date_from_civil(2026, 5, 31));
    cr_assert_not_null(p);
    cr_assert_eq(p->micros, 122000000);
    cr_assert_eq(p->effective_to, date_from_civil(2026, 6, 1), "the seed reader ends a price where the next begins");
    p = catalog_sku_price(c, s, MODE_HOURLY, "", date_from_civil(2026, 6, 1));
    cr_assert_eq(p->micros, 123500000);
    test_catalog_free(c);
}

Test(seed, the_synthetic_catalog_is_of_the_asked_size)
{
    struct catalog *big = synthetic_catalog(100000);
    const struct catalog *base = test_catalog();
    cr_assert_eq(big->n_prices, 100000u);
    cr_assert_gt(big->n_skus, 20000u);
    const struct sku *s = catalog_sku(big, "hefei-hightech-idc-a100-sxm4-80g-x8");
    cr_assert_eq(s->n_prices, catalog_sku(base, s->id)->n_prices);
    cr_assert_eq(s->provider, catalog_provider(big, "hefei-hightech-idc"));
    for (size_t i = 0; i < big->n_skus; i++)
        for (size_t k = 0; k < big->skus[i].n_prices; k++)
            cr_assert_eq(big->prices[big->skus[i].first_price + k].sku, &big->skus[i]);
    test_catalog_free(big);
}
