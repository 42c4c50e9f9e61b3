/* test_robust.c — no paste, however cut or damaged, may do more than give a verdict. Meant to run under ASan
 * (make VARIANT=asan test-diagnosis); texts are copied to exact blocks so that reading past their end shows. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/diagnosis/readings.h"
#include "tests/support/test_catalog.h"

#define ARENA_MAX ((size_t)64 << 20)

/* xorshift64*: the same damage in every run. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

#define ROUNDS 12 /* damages of each sample; there are over five hundred */

static bool share(double v)
{
    return !isfinite(v) || (v >= 0 && v <= 1.0001);
}

/* Runs it with the text under every name, and checks what must hold of any answer. */
static void survive(const char *what, const char *text, size_t n)
{
    char *exact = malloc(n + 1);
    memcpy(exact, text, n);
    exact[n] = '\0';
    struct arena *arena = arena_new(ARENA_MAX);
    struct diagnosis d;
    struct err err = {0};
    struct diagnosis_input in = {exact, exact, exact, exact, exact, NULL, 0};
    cr_assert_eq(diagnosis_run(&in, test_catalog(), arena, &d, &err), 0, "%s: %s", what, err.detail);
    cr_assert(d.verdict < VERDICT_COUNT && d.findings.n > 0, "%s", what);
    cr_assert(share(d.recoverable_share), "%s: recoverable %g", what, d.recoverable_share);
    for (size_t i = 0; i < d.cards.n; i++) {
        const struct card_reading *r = &d.cards.items[i];
        cr_assert(!(r->utilisation_pct < 0) && !(r->utilisation_pct > 100), "%s: %g %%", what, r->utilisation_pct);
        cr_assert(!(r->memory_used_mib < 0), "%s", what);
    }
    const struct iteration_stats *s = &d.iterations;
    cr_assert(!s->read || (s->mean_s > 0 && s->n > 0 && s->steady_n <= s->n), "%s", what);
    cr_assert(!(d.measured.memory_used_pct > 100) && !(d.measured.gpu_util_pct > 100), "%s", what);
    arena_free(arena);
    free(exact);
}

static void each_reading(void (*damage)(const struct reading *))
{
    const char *outside = readings_outside();
    const char *const folders[] = {"tests/data", outside};
    for (size_t f = 0; f < 2; f++) {
        struct readings all = folders[f] == NULL ? (struct readings){0} : readings_load(folders[f]);
        for (size_t i = 0; i < all.n; i++)
            damage(&all.items[i]);
        readings_free(&all);
    }
}

static void cut(const struct reading *r)
{
    size_t step = r->size / ROUNDS + 1;
    for (size_t n = 0; n <= r->size; n += step) {
        survive(r->file, r->text, n);
        survive(r->file, r->text + n, r->size - n);
    }
}

static void flip(const struct reading *r)
{
    uint64_t state = 0x9e3779b97f4a7c15u ^ r->size;
    char *copy = malloc(r->size + 1);
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(copy, r->text, r->size);
        size_t flips = r->size > 0 ? next_random(&state) % (r->size / 10 + 2) : 0;
        for (size_t i = 0; i < flips; i++) {
            uint64_t x = next_random(&state);
            char byte = (char)(x >> 40);
            static const char telling[] = "|/,:%<[]()\"\\#0129e.-\n\x1b \t";
            if (x >> 33 & 1)
                byte = telling[(x >> 48) % (sizeof telling - 1)];
            copy[x % r->size] = byte != '\0' ? byte : ' ';
        }
        survive(r->file, copy, r->size);
    }
    free(copy);
}

static void shuffle_lines(const struct reading *r)
{
    uint64_t state = 88172645463325252u ^ r->size;
    char *copy = malloc(2 * r->size + 2);
    for (int round = 0; round < ROUNDS / 2; round++) { /* lines taken at random, some twice, joined by CR or LF */
        size_t n = 0;
        while (n < r->size) {
            size_t at = next_random(&state) % (r->size + 1), end = at;
            while (at > 0 && r->text[at - 1] != '\n')
                at--;
            while (end < r->size && r->text[end] != '\n')
                end++;
            if (n + end - at + 1 > 2 * r->size + 1)
                break;
            memcpy(copy + n, r->text + at, end - at);
            n += end - at;
            copy[n++] = next_random(&state) & 1 ? '\n' : '\r';
        }
        survive(r->file, copy, n);
    }
    free(copy);
}

Test(robust, cut_anywhere, .timeout = 300)
{
    each_reading(cut);
}

Test(robust, bytes_flipped, .timeout = 300)
{
    each_reading(flip);
}

Test(robust, lines_shuffled, .timeout = 300)
{
    each_reading(shuffle_lines);
}

/* Texts made to be slow: one enormous line, or many that almost are what a reader looks for. */
Test(robust, long_texts_are_survived, .timeout = 120)
{
    static const char *const units[] = {"|",
                                        "00:",
                                        "a/b MiB / ",
                                        "GPU0 NV1 X ",
                                        "1,111,",
                                        "12%|# 1/2 [00:01<",
                                        "time ",
                                        "\\u1",
                                        "\x1b[",
                                        "step 1 ",
                                        "\"",
                                        "[rank0]",
                                        "# gpu sm ",
                                        "iter_time: (",
                                        "0000",
                                        "-e",
                                        "1d 1d ",
                                        "MIG ",
                                        "卡0 利用率35% ",
                                        "耗时 1s ",
                                        "1/2 1it/s ",
                                        "1: | \n2: | \n"};
    size_t size = (size_t)1 << 18;
    char *text = malloc(size + 64);
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        size_t n = 0;
        while (n < size) {
            size_t k = strlen(units[u]);
            memcpy(text + n, units[u], k);
            n += k;
        }
        survive(units[u], text, n);
    }
    free(text);
}
