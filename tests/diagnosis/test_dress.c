/* test_dress.c — what a paste is dressed in changes nothing of what it says: every sample, quoted, commented out,
 * indented, out of a log collector, a notebook's JSON, a terminal with colours, another system's line ends.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/diagnosis/readings.h"
#include "tests/support/test_catalog.h"

#define ARENA_MAX ((size_t)64 << 20)

struct text {
    char *bytes;
    size_t n, cap;
};

static void add(struct text *t, const char *bytes, size_t n)
{
    while (t->n + n + 1 > t->cap)
        t->bytes = realloc(t->bytes, t->cap = 2 * t->cap + n + 64);
    memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
    t->bytes[t->n] = '\0';
}

/* What stands before and behind every line. */
static const struct dress {
    const char *name, *before, *behind;
    bool cards_only; /* a log's steps are timed by its stamps */
} dresses[] = {
    {"quote", "> ", "\n", false},
    {"comment", "# ", "\n", false},
    {"indented", "    ", "\n", false},
    {"tab", "\t", "\n", false},
    {"crlf", "", "\r\n", false},
    {"old mac", "", "\r", false},
    {"blanks behind", "", "   \n", false},
    {"green", "\x1b[32m", "\x1b[0m\n", false},
    {"pod", "[pod/train-0/main] ", "\n", false},
    {"host", "gpu-node-7: ", "\n", false},
    {"cat -A", "", "$\n", false},
    {"bold", "**", "**\n", false},
    {"quoted comment", "> # ", "\n", false},
    {"collector", "2024-05-01T10:00:00.123456789Z ", "\n", true},
    {"collector in brackets", "[2024-05-01 10:00:00,123] ", "\n", true},
};

static char *dressed(const struct reading *r, const struct dress *d)
{
    struct text t = {NULL, 0, 0};
    for (const char *line = r->text, *end = r->text + r->size; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t n = stop != NULL ? (size_t)(stop - line) : (size_t)(end - line);
        add(&t, d->before, strlen(d->before));
        add(&t, line, n > 0 && line[n - 1] == '\r' ? n - 1 : n);
        add(&t, d->behind, strlen(d->behind));
        line += n + 1;
    }
    return t.bytes != NULL ? t.bytes : strdup("");
}

/* A notebook's file: every line a JSON string. */
static char *in_json(const struct reading *r)
{
    struct text t = {NULL, 0, 0};
    for (const char *line = r->text, *end = r->text + r->size; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t n = stop != NULL ? (size_t)(stop - line) + 1 : (size_t)(end - line);
        json_t *string = json_stringn(line, n);
        char *said = string != NULL ? json_dumps(string, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : strdup("\"\"");
        add(&t, "    ", 4);
        add(&t, said, strlen(said));
        add(&t, ",\n", 2);
        free(said);
        json_decref(string);
        line += n;
    }
    return t.bytes != NULL ? t.bytes : strdup("");
}

static char *in_html(const struct reading *r)
{
    struct text t = {NULL, 0, 0};
    for (size_t i = 0; i < r->size; i++) {
        char c = r->text[i];
        const char *entity = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : NULL;
        add(&t, entity != NULL ? entity : &c, entity != NULL ? strlen(entity) : 1);
    }
    return t.bytes != NULL ? t.bytes : strdup("");
}

static bool equal(double a, double b)
{
    return isfinite(a) == isfinite(b) && (!isfinite(a) || fabs(a - b) <= 1e-9 * fmax(1, fabs(a)));
}

static bool same_card(const struct card_reading *a, const struct card_reading *b)
{
    return a->index == b->index && a->gpu == b->gpu && equal(a->memory_used_mib, b->memory_used_mib) &&
           equal(a->memory_total_mib, b->memory_total_mib) && equal(a->utilisation_pct, b->utilisation_pct) &&
           equal(a->power_w, b->power_w) && a->verdict == b->verdict;
}

/* Names the first thing that differs; NULL: nothing. */
static const char *difference(const struct diagnosis *a, const struct diagnosis *b)
{
    if (a->verdict != b->verdict)
        return "verdict";
    if (a->cards.n != b->cards.n)
        return "number of cards";
    for (size_t i = 0; i < a->cards.n; i++)
        if (!same_card(&a->cards.items[i], &b->cards.items[i]))
            return "a card";
    if (a->iterations.n != b->iterations.n || !equal(a->iterations.steady_mean_s, b->iterations.steady_mean_s))
        return "iterations";
    if (a->topology.gpus != b->topology.gpus || a->topology.n_kinds != b->topology.n_kinds)
        return "topology";
    return NULL;
}

static void run(const struct reading *r, const char *text, struct arena *arena, struct diagnosis *ret)
{
    struct err err = {0};
    struct diagnosis_input in = reading_input(r, text);
    cr_assert_eq(diagnosis_run(&in, test_catalog(), arena, ret, &err), 0, "%s: %s", r->file, err.detail);
}

static void check(const struct reading *r, const struct diagnosis *plain, const char *dress, char *text)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct diagnosis d;
    run(r, text, arena, &d);
    const char *what = difference(plain, &d);
    cr_expect(what == NULL, "%s as %s: another %s", r->file, dress, what);
    arena_free(arena);
    free(text);
}

static size_t check_folder(const char *folder)
{
    struct readings all = readings_load(folder);
    size_t checked = 0;
    for (size_t i = 0; i < all.n; i++) {
        const struct reading *r = &all.items[i];
        if (json_is_true(json_object_get(r->expect, "bare"))) /* its shape is what it is a sample of */
            continue;
        struct arena *arena = arena_new(ARENA_MAX);
        struct diagnosis plain;
        run(r, r->text, arena, &plain);
        for (size_t k = 0; k < sizeof dresses / sizeof *dresses; k++)
            if (!dresses[k].cards_only || strcmp(r->kind, "train_log") != 0) {
                check(r, &plain, dresses[k].name, dressed(r, &dresses[k]));
                checked++;
            }
        check(r, &plain, "html", in_html(r));
        check(r, &plain, "a notebook", in_json(r));
        checked += 2;
        arena_free(arena);
    }
    readings_free(&all);
    return checked;
}

Test(dress, of_a_paste_changes_nothing, .timeout = 120)
{
    cr_expect(check_folder("tests/data") > 2500);
    const char *outside = readings_outside();
    if (outside != NULL)
        cr_expect(check_folder(outside) > 300);
    else
        fprintf(stderr, "dress: SKIPPED outside samples (set SUANPAN_SHARED)\n");
}
