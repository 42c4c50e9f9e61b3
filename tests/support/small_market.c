/* small_market.c — see small_market.h. */
#include "tests/support/small_market.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/advice/plan_make.h"
#include "planner/offers/engine.h"
#include "planner/reserve/reserve.h"
#include "tests/support/test_catalog.h"

static const struct test_csv files[] = {
    {"providers.csv",
     "id,name_zh,name_en,kind,city,place_zh,place_en,tier,support_level,data_stays,serves,queue_median_h,queue_p90_h,"
     "job_cap_h,note,source,source_date,confidence\n"
     "idc,本地,IDC,local_idc,hefei,高新区,High-tech Zone,local,24x7,yes,yes,,,,,test,2026-11,high\n"
     "cloud,云,Cloud,public_cloud,hefei,可用区,Zone,cloud,24x7,no,yes,,,,,test,2026-11,high\n"
     "campus,大学,Campus,university,hefei,校区,Campus,campus,business_hours,no,no,6,48,48,,test,2026-11,high\n"},
    {"networks.csv", "id,name_zh,name_en,kind,gbps_per_node,rdma,dedicated_line,note,source,source_date\n"
                     "ib-1600,IB,IB,infiniband,1600,yes,no,,test,2026-11\n"
                     "line-10g,专线,Line,,10,no,yes,,test,2026-11\n"},
    {"dedicated_lines.csv", "id,a_provider_id,b_provider_id,network_id,gbps,source,source_date,note\n"
                            "idc--cloud,idc,cloud,line-10g,10,test,2026-11,\n"},
    {"skus.csv",
     "id,provider_id,region,gpu_id,gpus_per_node,sold_by_card,max_nodes,intra,network_id,"
     "bandwidth_dedicated,form,host_memory_gb,cpu_cores,nvme_gb,tax_code,note,source,source_date,confidence\n"
     "idc-a100,idc,hefei,a100-sxm4-80g,8,yes,16,nvswitch,ib-1600,yes,bare_metal,1024,128,15360,service_6,,"
     "test,2026-11,high\n"
     "cloud-a100,cloud,hefei,a100-sxm4-80g,8,no,16,nvswitch,ib-1600,yes,container,1024,128,7680,service_6,,"
     "test,2026-11,high\n"
     "campus-a100,campus,hefei,a100-sxm4-80g,8,yes,4,nvswitch,ib-1600,yes,managed_machine,1024,128,7680,"
     "service_6,,test,2026-11,high\n"},
    {"prices.csv",
     "id,subject,sku_id,subject_id,provider_id,mode,term_months,currency,unit,price,user_class,off_peak_only,"
     "tax_included,free_of_charge,effective_from,observed_on,state,source,confidence\n"
     "p1,sku,idc-a100,,,hourly,,CNY,node_hour,120,,no,no,no,2026-11-01,2026-11-20,firm,test,high\n"
     "p2,sku,idc-a100,,,monthly,1,CNY,node_month,45000,,no,no,no,2026-11-01,2026-11-20,firm,test,high\n"
     "p3,sku,idc-a100,,,hourly,,CNY,gpu_hour,16,,no,no,no,2026-11-01,2026-11-20,firm,test,high\n"
     "p4,sku,idc-a100,,,monthly,1,CNY,gpu_month,6000,,no,no,no,2026-11-01,2026-11-20,firm,test,high\n"
     "p5,sku,cloud-a100,,,hourly,,CNY,node_hour,200,,no,no,no,2026-11-01,2026-11-20,firm,test,high\n"
     "p6,sku,cloud-a100,,,monthly,1,CNY,node_month,80000,,no,no,no,2026-11-01,2026-11-20,firm,test,high\n"
     "p7,sku,campus-a100,,,hourly,,CNY,gpu_hour,4,internal,yes,no,no,2026-11-01,2026-11-20,firm,test,high\n"
     "p8,sku,campus-a100,,,hourly,,CNY,gpu_hour,6,partner,yes,no,no,2026-11-01,2026-11-20,firm,test,high\n"
     "p9,sku,campus-a100,,,hourly,,CNY,gpu_hour,8,external,yes,no,no,2026-11-01,2026-11-20,firm,test,high\n"
     "p10,line,,idc--cloud,,monthly,1,CNY,month,15000,,no,no,no,2026-11-01,2026-11-20,firm,test,high\n"
     "p11,egress,,cloud,cloud,hourly,,CNY,gb,0.80,,no,no,no,2026-11-01,2026-11-20,firm,test,high\n"},
    {"tax_codes.csv", "code,name_zh,name_en,rate_bp,valid_from,valid_to,source\n"
                      "service_6,服务,Services,600,2016-05-01,,test\n"},
    {"purchase_prices.csv",
     "gpu_id,gpus_per_server,price_low,price,price_high,currency,observed_on,source,confidence,note\n"
     "a100-sxm4-80g,8,900000,1150000,1400000,CNY,2026-08-22,test,low,\n"},
};

static void give_up(const char *what, const struct err *err)
{
    fprintf(stderr, "small market: %s: %s %s (%s)\n", what, err_name(err->code), err->detail, err->pointer);
    abort();
}

struct catalog *small_market(void)
{
    struct err err = {0};
    struct catalog *c = test_catalog_of(files, sizeof files / sizeof *files);
    if (engine_bind(c, &err))
        give_up("engine_bind", &err);
    return c;
}

struct workload small_workload(const struct catalog *c)
{
    struct workload w;
    const struct model *m = catalog_model(c, "llama-2-7b");
    workload_init(&w);
    if (!m)
        give_up("model llama-2-7b", &(struct err){0});
    w.model = *m;
    w.training.stated = true;
    w.training.method = METHOD_LORA;
    w.training.tokens = 2e8;
    w.training.seq_len = 4096;
    w.training.runs = 1;
    w.serving.months_stated = true;
    date_parse("2027-01-04", &w.constraints.start_on);
    return w;
}

struct build *small_build(const struct catalog *c, const struct workload *w, struct arena *arena)
{
    struct err err = {0};
    struct plan_request *q = arena_alloc(arena, sizeof *q);
    struct build *b = arena_alloc(arena, sizeof *b);
    *q = (struct plan_request){.catalog = c, .workload = w};
    date_parse("2026-11-30", &q->as_of);
    if (build_init(b, q, arena, &err) || reserve_build(b, &err))
        give_up("build", &err);
    return b;
}

struct plan *small_plan(const struct catalog *c, const struct workload *w, struct arena *arena)
{
    struct err err = {0};
    struct plan *p = arena_alloc(arena, sizeof *p);
    struct plan_request q = {.catalog = c, .workload = w};
    date_parse("2026-11-30", &q.as_of);
    if (plan_make(&q, arena, p, &err))
        give_up("plan", &err);
    return p;
}
