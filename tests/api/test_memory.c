/* test_memory.c — running out of memory anywhere gives a clean 503 and leaks nothing. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "api/decode.h"
#include "tests/api/client.h"

static const char body[] =
    "{\"workload\": {\"name\": \"x\", \"model\": {\"config\": \"{'hidden_size': 4096, 'num_hidden_layers': 32, "
    "'num_attention_heads': 32, 'vocab_size': 32000, 'model_type': 'llama'}\"}, \"training\": {\"method\": \"lora\", "
    "\"tokens\": 1e8}, \"constraints\": {\"gpus\": [\"a100-sxm4-80g\"], \"kinds\": [\"single_machine\"]}, "
    "\"assumptions\": {\"month_hours\": 720}}, \"hardware\": {\"gpu\": \"a100-sxm4-80g\", \"gpus_per_node\": 8}}";

static int status_with(size_t arena_bytes)
{
    struct arena *arena = arena_new(arena_bytes);
    struct api_request req = {.method = "POST",
                              .path = "/api/v1/estimates",
                              .content_type = "application/json",
                              .body = body,
                              .body_len = sizeof body - 1,
                              .catalog = client_catalog(),
                              .today = date_from_civil(2026, 11, 30),
                              .arena = arena,
                              .request_id = "r"};
    struct api_response res;
    api_handle(&req, &res);
    int status = res.status;
    cr_expect(status == 200 || status == 503, "%zu bytes: %d %s", arena_bytes, status, res.body ? res.body : "");
    api_response_done(&res);
    arena_free(arena);
    return status;
}

Test(memory, an_arena_of_any_size_gives_an_answer)
{
    cr_expect_eq(status_with(8u << 20), 200);
    cr_expect_eq(status_with(64), 503);
    for (size_t bytes = 64; bytes < (1u << 21); bytes += bytes / 6)
        status_with(bytes);
}

static long allocations_left;

static void *failing_malloc(size_t n)
{
    return allocations_left-- > 0 ? malloc(n) : NULL;
}

static void plain_free(void *p)
{
    free(p);
}

/* Every allocation of the JSON library fails in turn. */
Test(memory, every_json_allocation_may_fail, .timeout = 120)
{
    client_catalog();
    status_with(8u << 20);
    json_set_alloc_funcs(failing_malloc, plain_free);
    int ok = 0;
    for (long n = 0; n < 400 && ok < 3; n++) {
        struct decode d;
        struct fault_list faults;
        struct err err = {0};
        static struct decoded_estimate e;
        struct arena *arena = arena_new(4u << 20);
        decode_init(&d, client_catalog(), arena, LANG_EN, date_from_civil(2026, 11, 30), &faults);
        allocations_left = n;
        ok += decode_estimate_request(&d, body, sizeof body - 1, &e, &err) == 0;
        arena_free(arena);
    }
    json_set_alloc_funcs(malloc, free);
    cr_expect_eq(ok, 3);
}
