/* test_serving_size.c — a load becomes cards: queueing, monotonicity, sharing, refusals; and forward-only work. */
#include "planner/serving/serving_queue.h"
#include "tests/unit/serving_fixture.h"

#define N(a) (sizeof(a) / sizeof *(a))

/* Erlang-C by its definition, summed from the largest term down. */
static double erlang_c_by_definition(int c, double a)
{
    double term = 1, sum = 1; /* relative to a^c / c! : a^k / k! for k = c - 1 ... 0 */
    for (int k = c - 1; k >= 0; k--) {
        term *= (k + 1) / a;
        sum += term;
    }
    double busy = 1 / (1 - a / c);
    return busy / (sum - 1 + busy);
}

/* Whatever limit is asked about, the nearest ones included. */
Test(serving_size, a_wait_is_within_a_limit_exactly_where_it_is_no_longer)
{
    const double beyond[] = {1e-6, 0.5, 1 - 1e-12, 1, 1 + 1e-12, 2, 1e6};
    for (int c = 1; c <= 1100; c += 1 + c / 7)
        for (double rho = 0.02; rho < 1.1; rho += 0.07)
            for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
                const double wait = erlang_wait(c, rho * c, 3), most = isinf(wait) ? 1e9 : wait * beyond[i];
                cr_assert_eq(erlang_wait_within(c, rho * c, 3, most), wait <= most, "%d at %.2f x %g", c, rho,
                             beyond[i]);
            }
    cr_expect(erlang_wait_within(4, 0, 1, 0), "nobody waits where nobody comes");
    cr_expect(!erlang_wait_within(4, 4, 1, 1e9));
}

Test(serving_size, erlang_c)
{
    cr_expect_float_eq(erlang_c(1, 0.5), 0.5, 1e-12, "one server waits as often as it is busy");
    cr_expect_float_eq(erlang_c(2, 1), 1.0 / 3, 1e-12);
    cr_expect_float_eq(erlang_c(10, 8), 0.40918, 1e-4);
    cr_expect_float_eq(erlang_wait(1, 0.5, 2), 2, 1e-9, "M/M/1: rho / (1 - rho) x service");
    cr_expect_eq(erlang_c(4, 0), 0);
    cr_expect_eq(erlang_c(4, 4), 1);
    cr_expect(isinf(erlang_wait(4, 5, 1)));
    for (int c = 1; c <= 900; c = c * 2 + 1)
        for (double rho = 0.1; rho < 1; rho += 0.2)
            cr_expect_float_eq(erlang_c(c, rho * c), erlang_c_by_definition(c, rho * c), 1e-9, "%d at %.1f", c, rho);
    for (double rho = 0.9; rho < 0.999; rho += 0.02) /* the limit used for very many servers meets the recursion */
        cr_expect_float_eq(erlang_c(1025, rho * 1025), erlang_c_by_definition(1025, rho * 1025), 0.02);
}

struct want {
    const char *model, *gpu;
    int node;
    double weight_bits, requests_per_s, users, concurrency, ttft_ms, tpot_ms;
    int spare;
    double peak_factor;
};

static struct serving_sizing size(struct want w)
{
    struct model m = preset(w.model);
    struct serving s = {.stated = true,
                        .weight_bits = w.weight_bits,
                        .requests_per_s = w.requests_per_s,
                        .users = w.users,
                        .concurrency = w.concurrency,
                        .input_tokens = 1200,
                        .output_tokens = 350,
                        .ttft_ms = w.ttft_ms,
                        .tpot_ms = w.tpot_ms,
                        .spare_replicas = w.spare,
                        .peak_factor = w.peak_factor > 0 ? w.peak_factor : 3};
    struct serving_sizing_request q = {.model = &m,
                                       .serving = &s,
                                       .gpu = card(w.gpu),
                                       .gpus_per_node = w.node > 0 ? w.node : 8,
                                       .load_low = 0.7,
                                       .load_high = 1.4,
                                       .utilisation_target = 0.65};
    struct serving_sizing z;
    struct err err;
    struct arena *arena = arena_new((size_t)1 << 20);
    int rc = serving_size(constants(), &q, arena, &z, &err);
    arena_free(arena);
    cr_assert_eq(rc, 0, "%s", err.detail);
    return z;
}

static const char *const MODELS[] = {"qwen2.5-7b",    "qwen2.5-14b",   "qwen2.5-32b",
                                     "llama-3.1-70b", "qwen3-30b-a3b", "mixtral-8x7b"};
static const char *const GPUS[] = {"rtx-4090-24g",  "l40s-48g",     "a100-sxm4-80g",
                                   "h100-sxm5-80g", "h20-sxm5-96g", "ascend-910b2-64g"};

Test(serving_size, more_requests_never_fewer_replicas)
{
    for (size_t m = 0; m < N(MODELS); m++)
        for (size_t g = 0; g < N(GPUS); g++) {
            struct serving_sizing last = {0};
            for (double rate = 0.02; rate < 400; rate *= 1.4) {
                struct serving_sizing z = size((struct want){.model = MODELS[m],
                                                             .gpu = GPUS[g],
                                                             .weight_bits = 8,
                                                             .requests_per_s = rate,
                                                             .tpot_ms = 100,
                                                             .spare = 1});
                if (!z.feasible)
                    break;
                cr_expect_geq(z.replicas, last.replicas, "%s %s %.2f/s", MODELS[m], GPUS[g], rate);
                cr_expect_geq(z.gpus, last.gpus, "%s %s %.2f/s", MODELS[m], GPUS[g], rate);
                cr_expect(z.replicas_low <= z.replicas && z.replicas <= z.replicas_high);
                cr_expect(z.gpus_low <= z.gpus && z.gpus <= z.gpus_high);
                cr_expect(z.utilisation > 0 && z.utilisation <= 0.65 / 3 + 1e-9, "%.3f", z.utilisation);
                last = z;
            }
        }
}

Test(serving_size, a_stricter_tpot_never_fewer_gpus)
{
    for (size_t m = 0; m < N(MODELS); m++)
        for (size_t g = 0; g < N(GPUS); g++)
            for (double rate = 0.2; rate < 60; rate *= 8) {
                int last = 0;
                for (double tpot = 200; tpot > 15; tpot *= 0.9) {
                    struct serving_sizing z = size((struct want){
                        .model = MODELS[m], .gpu = GPUS[g], .weight_bits = 8, .requests_per_s = rate, .tpot_ms = tpot});
                    if (!z.feasible)
                        break;
                    cr_expect_geq(z.gpus, last, "%s %s %.1f/s %.0f ms", MODELS[m], GPUS[g], rate, tpot);
                    cr_expect_leq(z.tpot_ms, tpot * 1.001, "%s %s: %.1f of %.1f ms", MODELS[m], GPUS[g], z.tpot_ms,
                                  tpot);
                    last = z.gpus;
                }
            }
}

/* Both at once on a fine grid, for every pair of neighbours: rates down, times per token across. */
Test(serving_size, monotone_in_load_and_target_on_a_fine_grid, .timeout = 120)
{
    enum { RATES = 22, TARGETS = 32 };
    static const double bits[] = {16, 8, 4};
    int sized = 0;
    for (size_t m = 0; m < N(MODELS); m++)
        for (size_t g = 0; g < N(GPUS); g++) {
            struct serving_sizing above[TARGETS] = {0};
            const bool in_flight = (m + g) % 4 == 3;
            for (int i = 0; i < RATES; i++) {
                const double load = 0.03 * pow(1.55, i);
                struct serving_sizing stricter = {0};
                for (int t = TARGETS - 1; t >= 0; t--) { /* loose to strict */
                    struct serving_sizing z = size((struct want){.model = MODELS[m],
                                                                 .gpu = GPUS[g],
                                                                 .weight_bits = bits[(m + g) % 3],
                                                                 .requests_per_s = in_flight ? 0 : load,
                                                                 .concurrency = in_flight ? 10 * load : 0,
                                                                 .tpot_ms = 9 * pow(1.117, t),
                                                                 .spare = (int)(m % 2)});
                    if (!z.feasible)
                        break;
                    sized++;
                    cr_expect_geq(z.gpus, stricter.gpus, "%s %s %.2f: %d at %.1f ms after %d", MODELS[m], GPUS[g], load,
                                  z.gpus, 9 * pow(1.117, t), stricter.gpus);
                    cr_expect_geq(z.gpus, above[t].gpus, "%s %s %.2f %.1f ms", MODELS[m], GPUS[g], load,
                                  9 * pow(1.117, t));
                    cr_expect_geq(z.replicas, above[t].replicas, "%s %s %.2f %.1f ms: %d after %d", MODELS[m], GPUS[g],
                                  load, 9 * pow(1.117, t), z.replicas, above[t].replicas);
                    cr_expect(z.gpus_mean <= z.gpus && z.gpus_mean_low <= z.gpus_mean &&
                              z.gpus_mean <= z.gpus_mean_high);
                    stricter = above[t] = z;
                }
            }
        }
    cr_expect_gt(sized, 10000, "%d points", sized);
}

/* domain.md: a quantised 7B takes about 8 GB, so an 80 GB card carries about 10 such copies. */
Test(serving_size, ten_copies_of_a_quantised_7b_on_80_gb)
{
    struct serving_sizing z = size((struct want){
        .model = "qwen2.5-7b", .gpu = "h100-sxm5-80g", .weight_bits = 4, .requests_per_s = 0.05, .spare = 9});
    cr_assert(z.feasible);
    cr_expect(z.replicas_per_gpu >= 8 && z.replicas_per_gpu <= 12, "%d copies", z.replicas_per_gpu);
    cr_expect_eq(z.replicas, 10);
    cr_expect_leq(z.gpus, 2, "ten replicas on %d cards", z.gpus);
    struct serving_sizing big = size((struct want){
        .model = "llama-3.1-70b", .gpu = "h100-sxm5-80g", .weight_bits = 8, .requests_per_s = 0.05, .spare = 1});
    cr_expect_eq(big.replicas_per_gpu, 1);
}

Test(serving_size, load_as_requests_users_or_concurrency)
{
    double per_hour = constants()->default_requests_per_user_hour;
    struct want w = {
        .model = "qwen2.5-14b", .gpu = "a100-sxm4-80g", .weight_bits = 16, .requests_per_s = 4, .spare = 1};
    struct serving_sizing by_rate = size(w);
    w.requests_per_s = 0;
    w.users = 4 * 3600 / per_hour;
    struct serving_sizing by_users = size(w);
    cr_expect_eq(by_rate.replicas, by_users.replicas);
    cr_expect_float_eq(by_users.peak_requests_per_s, 12, 1e-9, "4/s x peak factor 3");
    w.users = 0;
    int last = 0;
    for (int n = 1; n < 3000; n *= 3) {
        w.concurrency = n;
        struct serving_sizing z = size(w);
        cr_expect_geq(z.replicas, last);
        last = z.replicas;
    }
    w.concurrency = 0;
    w.requests_per_s = 4;
    w.spare = 3;
    cr_expect_eq(size(w).replicas, by_rate.replicas + 2, "spare comes on top");
}

Test(serving_size, refusals_name_what_is_missing)
{
    struct serving_sizing z =
        size((struct want){.model = "deepseek-v3", .gpu = "a100-sxm4-80g", .weight_bits = 8, .requests_per_s = 1});
    cr_expect(!z.feasible);
    cr_expect_str_eq(z.why_not.code, "serving_no_memory");
    cr_expect_gt(z.why_not.short_by, 0);
    z = size((struct want){
        .model = "llama-3.1-70b", .gpu = "a100-sxm4-80g", .weight_bits = 16, .requests_per_s = 1, .tpot_ms = 5});
    cr_expect(!z.feasible);
    cr_expect_str_eq(z.why_not.code, "serving_tpot_missed");
    z = size((struct want){
        .model = "llama-3.1-70b", .gpu = "a100-sxm4-80g", .weight_bits = 16, .requests_per_s = 1, .ttft_ms = 10});
    cr_expect(!z.feasible);
    cr_expect_str_eq(z.why_not.code, "serving_ttft_missed");
}

/* Replicas by hand from the capacity that the answer itself states. */
Test(serving_size, replicas_follow_from_the_capacity)
{
    for (double rate = 1; rate < 100; rate *= 3) {
        struct serving_sizing z = size((struct want){
            .model = "qwen2.5-7b", .gpu = "a100-sxm4-80g", .weight_bits = 16, .requests_per_s = rate, .spare = 0});
        double capacity = z.mean_requests_per_s / z.utilisation / z.replicas; /* of one replica */
        double by_utilisation = ceil(z.peak_requests_per_s / (capacity * 0.65) - 1e-9);
        cr_expect_geq(z.replicas, by_utilisation);
        cr_expect_leq(z.replicas, by_utilisation + 2, "the queue asks for %d more", z.replicas - (int)by_utilisation);
        cr_expect_leq(erlang_wait(z.servers, z.offered, z.service_s), 0.5 * 2);
    }
}
