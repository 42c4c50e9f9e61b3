/* test_reads.c — the catalog as lists, pages and single items. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/api/client.h"

static const char *const collections[] = {"models",    "gpus",       "links",      "providers", "networks",
                                          "storages",  "schedulers", "skus",       "prices",    "fx-rates",
                                          "tax-codes", "lines",      "assumptions"};

static struct reply list(const char *name, const char *query)
{
    char path[100];
    snprintf(path, sizeof path, "/api/v1/%s", name);
    return ask((struct ask){.path = path, .query = query});
}

Test(reads, pages_put_together_are_the_whole_list)
{
    for (size_t i = 0; i < sizeof collections / sizeof *collections; i++) {
        struct reply all = list(collections[i], "limit=500");
        cr_assert_eq(all.status, 200);
        size_t n = json_array_size(json_object_get(all.json, "items")), seen = 0;
        cr_expect_gt(n, 0, "%s is empty", collections[i]);
        char query[300] = "limit=7";
        for (int page = 0; page < 200; page++) {
            struct reply r = list(collections[i], query);
            json_t *items = json_object_get(r.json, "items"), *cursor = json_object_get(r.json, "next_cursor");
            cr_assert_not_null(cursor, "%s: next_cursor is always there", collections[i]);
            for (size_t k = 0; k < json_array_size(items) && seen < 500; k++, seen++)
                if (seen < n)
                    cr_expect(
                        json_equal(json_array_get(items, k), json_array_get(json_object_get(all.json, "items"), seen)),
                        "%s %zu", collections[i], seen);
            if (json_is_string(cursor))
                snprintf(query, sizeof query, "limit=7&cursor=%s", json_string_value(cursor));
            bool end = json_is_null(cursor);
            reply_done(&r);
            if (end || seen >= 500)
                break;
        }
        cr_expect_eq(seen < 500 ? seen : n, n, "%s", collections[i]);
        reply_done(&all);
    }
}

Test(reads, every_item_answers_under_its_id)
{
    for (size_t i = 0; i < sizeof collections / sizeof *collections; i++) {
        struct reply all = list(collections[i], "limit=3");
        size_t k;
        json_t *item;
        json_array_foreach(json_object_get(all.json, "items"), k, item)
        {
            char path[200];
            snprintf(path, sizeof path, "/api/v1/%s/%s", collections[i],
                     json_string_value(json_object_get(item, "id")));
            struct reply one = ask((struct ask){.path = path});
            cr_expect_eq(one.status, 200, "%s", path);
            cr_expect(json_equal(one.json, item), "%s", path);
            reply_done(&one);
        }
        reply_done(&all);
    }
}

Test(reads, filters_narrow_the_list)
{
    static const struct {
        const char *name, *query, *member, *value;
    } rows[] = {{"skus", "city=hefei&limit=500", "city", "hefei"},
                {"skus", "gpu=a100-sxm4-80g&limit=500", "gpu", "a100-sxm4-80g"},
                {"prices", "pricing_mode=spot&limit=500", "pricing_mode", "spot"},
                {"prices", "state=quote_only&limit=500", "state", "quote_only"},
                {"providers", "kind=university", "kind", "university"},
                {"assumptions", "kind=assumption&limit=500", "kind", "assumption"},
                {"gpus", "vendor=NVIDIA&limit=500", "vendor", "NVIDIA"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct reply r = list(rows[i].name, rows[i].query);
        json_t *items = json_object_get(r.json, "items"), *item;
        size_t k;
        cr_expect_gt(json_array_size(items), 0, "%s?%s", rows[i].name, rows[i].query);
        json_array_foreach(items, k, item)
        {
            cr_expect_str_eq(json_string_value(json_object_get(item, rows[i].member)), rows[i].value);
        }
        reply_done(&r);
    }
}

Test(reads, a_gpu_answers_to_its_aliases)
{
    struct reply r = ask((struct ask){.path = "/api/v1/gpus/A100-SXM4-80G"});
    cr_expect_eq(r.status, 200);
    cr_expect_str_eq(json_string_value(json_object_get(r.json, "id")), "a100-sxm4-80g");
    reply_done(&r);
}

/* A price without a tariff has no figure: unknown is not nought. */
Test(reads, quote_only_is_null_and_not_zero)
{
    struct reply r = list("prices", "state=quote_only&limit=500");
    size_t k;
    json_t *item;
    json_array_foreach(json_object_get(r.json, "items"), k, item)
    {
        cr_expect(json_is_null(json_object_get(item, "price")));
    }
    reply_done(&r);
}

Test(reads, a_spreadsheet_names_its_language_in_the_query)
{
    struct reply header = ask((struct ask){.path = "/api/v1/providers", .language = "zh-CN"});
    struct reply query = ask((struct ask){.path = "/api/v1/providers", .query = "lang=zh-CN&t=7"});
    cr_expect_str_eq(header.text, query.text);
    cr_expect_str_eq(reply_header(&query, "Content-Language"), "zh-CN");
    struct reply bad = ask((struct ask){.path = "/api/v1/gpus/a100-sxm4-80g", .query = "lang=fr&limit=1"});
    cr_expect_eq(bad.status, 422);
    cr_expect(has_fault(&bad, "lang", "unknown_value") && has_fault(&bad, "limit", "unknown_parameter"));
    reply_done(&header);
    reply_done(&query);
    reply_done(&bad);
}
