/* test_columns.c — `--query-gpu` and `dmon` with any columns in any order, over time, with and without headings: what
 * was printed is what is read. The texts are made at random, the same ones in every run. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/diagnosis/diagnosis.h"
#include "tests/support/test_catalog.h"

#define ROUNDS 300
#define CARDS_MAX_HERE 8
#define LOOPS_MAX 5
#define N(a) (sizeof(a) / sizeof *(a))

static uint64_t state = 0x9e3779b97f4a7c15u;

static unsigned below(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 33) % n);
}

struct text {
    char bytes[1 << 16];
    size_t n;
};

static void say(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->bytes + t->n, sizeof t->bytes - t->n, format, args);
    va_end(args);
    cr_assert(n >= 0 && (size_t)n < sizeof t->bytes - t->n);
    t->n += (size_t)n;
}

/* What a column's cells hold: one of the figures, or the same in every row. */
enum what { FIXED, INDEX, BUS, UUID, STAMP, BUSY, MEMORY_BUSY, USED, TOTAL, FREE, POWER };

static const struct column {
    const char *field, *unit, *fixed;
    enum what what;
} COLUMNS[] = {
    {"utilization.gpu", " %", NULL, BUSY}, /* these three are always asked for */
    {"memory.used", " MiB", NULL, USED},
    {"memory.total", " MiB", NULL, TOTAL},
    {"index", "", NULL, INDEX},
    {"pci.bus_id", "", NULL, BUS},
    {"uuid", "", NULL, UUID},
    {"timestamp", "", NULL, STAMP},
    {"utilization.memory", " %", NULL, MEMORY_BUSY},
    {"memory.free", " MiB", NULL, FREE},
    {"power.draw", " W", NULL, POWER},
    {"name", "", "NVIDIA H20", FIXED},
    {"driver_version", "", "550.54.15", FIXED},
    {"fan.speed", " %", "[N/A]", FIXED},
    {"pstate", "", "P0", FIXED},
    {"temperature.gpu", "", "55", FIXED},
    {"power.max_limit", " W", "800.00", FIXED},
    {"memory.reserved", " MiB", "601", FIXED},
    {"clocks.current.sm", " MHz", "1410", FIXED},
    {"pcie.link.width.current", "", "16", FIXED},
    {"vbios_version", "", "92.00.45.00.03", FIXED},
    {"clocks_event_reasons.active", "", "0x0000000000000000", FIXED},
    {"mig.mode.pending", "", "Disabled", FIXED},
    {"compute_cap", "", "9.0", FIXED},
};

struct figures {
    double busy, memory_busy, used, power;
};

static bool asked(const struct column *const *columns, size_t n, enum what what)
{
    for (size_t i = 0; i < n; i++)
        if (columns[i]->what == what)
            return true;
    return false;
}

/* Some of the columns, shuffled; rows over time need something that tells the cards apart. */
static size_t choose(const struct column **columns, unsigned loops)
{
    size_t n = 0;
    for (size_t i = 0; i < N(COLUMNS); i++)
        if (i < 3 || below(2) == 0)
            columns[n++] = &COLUMNS[i];
    if (loops > 1 && !asked(columns, n, INDEX) && !asked(columns, n, BUS) && !asked(columns, n, UUID) &&
        !asked(columns, n, STAMP))
        columns[n++] = &COLUMNS[3];
    for (size_t i = n - 1; i > 0; i--) {
        size_t k = below((unsigned)i + 1);
        const struct column *kept = columns[i];
        columns[i] = columns[k];
        columns[k] = kept;
    }
    return n;
}

static void say_cell(struct text *t, const struct column *c, const struct figures *f, unsigned card, unsigned loop,
                     unsigned total, bool units)
{
    switch (c->what) {
    case FIXED:
        say(t, "%s", c->fixed);
        break;
    case INDEX:
        say(t, "%u", card);
        break;
    case BUS:
        say(t, "00000000:%02X:00.0", card * 17 + 3);
        break;
    case UUID:
        say(t, "GPU-%08x-1111-2222-3333-444455556666", card * 77 + 5);
        break;
    case STAMP:
        say(t, "2025/03/01 10:%02u:%02u.%03u", loop / 12, loop * 5 % 60, 100 + card * 2);
        break;
    case BUSY:
        say(t, "%.0f", f->busy);
        break;
    case MEMORY_BUSY:
        say(t, "%.0f", f->memory_busy);
        break;
    case USED:
        say(t, "%.0f", f->used);
        break;
    case TOTAL:
        say(t, "%u", total);
        break;
    case FREE:
        say(t, "%.0f", total - f->used);
        break;
    case POWER:
        say(t, "%.2f", f->power);
        break;
    }
    if (units && !(c->fixed != NULL && c->fixed[0] == '['))
        say(t, "%s", c->unit);
}

static void say_heading(struct text *t, const struct column *const *columns, size_t n, const char *separator,
                        bool units)
{
    for (size_t i = 0; i < n; i++) {
        say(t, "%s%s", i > 0 ? separator : "", columns[i]->field);
        if (columns[i]->unit[0] != '\0' && units)
            say(t, " [%s]", columns[i]->unit + 1);
    }
    say(t, "\n");
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

static void one_round(int number)
{
    static struct text t;
    const struct column *columns[N(COLUMNS) + 1];
    struct figures mean[CARDS_MAX_HERE] = {{0, 0, 0, 0}};
    const unsigned cards = 1 + below(CARDS_MAX_HERE), loops = below(2) == 0 ? 1 : 1 + below(LOOPS_MAX);
    const unsigned total = 15360 + below(80000);
    const bool heading = below(3) > 0, units = below(2) == 0, tabs = heading && below(3) == 0;
    const char *separator = tabs ? "\t" : ", ";
    size_t n = choose(columns, loops);
    t.n = 0;
    if (!heading) { /* then the command above names the columns */
        say(&t, "$ nvidia-smi --format=csv,noheader%s -l 5 --query-gpu=", units ? "" : ",nounits");
        say_heading(&t, columns, n, ",", false);
    } else
        say_heading(&t, columns, n, separator, true);
    for (unsigned loop = 0; loop < loops; loop++)
        for (unsigned card = 0; card < cards; card++) {
            struct figures f = {below(101), below(101), below(total + 1), (20 + below(68000) / 100.0)};
            mean[card].busy += f.busy / loops;
            mean[card].memory_busy += f.memory_busy / loops;
            mean[card].used += f.used / loops;
            mean[card].power += round(f.power * 100) / 100 / loops;
            for (size_t i = 0; i < n; i++) {
                say(&t, "%s", i > 0 ? separator : "");
                say_cell(&t, columns[i], &f, card, loop, total, units);
            }
            say(&t, "\n");
        }
    struct arena *arena = arena_new((size_t)16 << 20);
    struct diagnosis d;
    struct err err = {0};
    struct diagnosis_input in = {.nvidia_smi_csv = t.bytes};
    cr_assert_eq(diagnosis_run(&in, test_catalog(), arena, &d, &err), 0, "%s", err.detail);
    cr_expect_eq(d.cards.n, cards, "round %d: %zu cards of %u\n%.400s", number, d.cards.n, cards, t.bytes);
    for (size_t i = 0; i < d.cards.n && i < cards; i++) {
        const struct card_reading *r = &d.cards.items[i];
        bool right = r->index == (int)i && r->samples == loops && near(r->utilisation_pct, mean[i].busy) &&
                     near(r->memory_used_mib, mean[i].used) && near(r->memory_total_mib, total);
        if (asked(columns, n, MEMORY_BUSY))
            right = right && near(r->memory_busy_pct, mean[i].memory_busy);
        if (asked(columns, n, POWER))
            right = right && near(r->power_w, mean[i].power);
        cr_expect(right, "round %d, card %zu\n%.400s", number, i, t.bytes);
    }
    arena_free(arena);
}

Test(columns, of_a_query_in_any_order, .timeout = 60)
{
    for (int round = 0; round < ROUNDS; round++)
        one_round(round);
}
