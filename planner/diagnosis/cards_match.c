/* cards_match.c — which card of the catalog a driver's product name means.
 *
 * Drivers print "NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB PCIe", "NVIDIA H100 80GB HBM3", "GH200 120GB" (that is the
 * CPU's memory) and cut names to fit the table. Catalog ids are model words, a form and a memory ("a100-pcie-80g").
 * A card fits when the name has all its model words and no word that makes it another model; the memory the driver
 * reports, the form and the power limit then choose among the variants.
 */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/cards.h"
#include "planner/diagnosis/text.h"

#define WORDS_MAX 16
#define WORD_MAX 24

struct words {
    char items[WORDS_MAX][WORD_MAX];
    int n;
    bool cut; /* the name ends in "...": its last word may be incomplete */
};

static void split(const char *name, struct words *w)
{
    *w = (struct words){0};
    size_t length = strlen(name);
    w->cut = length >= 3 && strcmp(name + length - 3, "...") == 0;
    if (text_starts(name, "MXC") && text_is_digit(name[3])) { /* MetaX C500, as older drivers print it */
        memcpy(w->items[w->n++], "metax", sizeof "metax");
        name += 2;
    }
    for (const char *p = name; *p != '\0' && w->n < WORDS_MAX;) {
        if (!text_is_alnum(*p)) {
            p++;
            continue;
        }
        int k = 0;
        for (; text_is_alnum(*p); p++)
            if (k + 1 < WORD_MAX)
                w->items[w->n][k++] = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;
        w->items[w->n++][k] = '\0';
    }
}

/* "80g", "80gb", "141g": a size, no word of a model. */
static bool is_size(const char *word)
{
    size_t digits = strspn(word, "0123456789");
    const char *unit = word + digits;
    return digits >= 1 && digits <= 3 && (strcmp(unit, "g") == 0 || strcmp(unit, "gb") == 0);
}

static bool is_form(const char *word)
{
    return strncmp(word, "sxm", 3) == 0 || strcmp(word, "pcie") == 0 || strcmp(word, "pci") == 0 ||
           strcmp(word, "oam") == 0 || strncmp(word, "nvl", 3) == 0;
}

static bool in_list(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}

static bool has_word(const struct words *w, const char *word)
{
    for (int i = 0; i < w->n; i++)
        if (strcmp(w->items[i], word) == 0)
            return true;
    return false;
}

/* Also a word that the table cut short: "GeForce GTX 105..." has the beginning of 1050. */
static bool has_word_or_cut(const struct words *w, const char *word)
{
    if (has_word(w, word))
        return true;
    const char *last = w->n > 0 ? w->items[w->n - 1] : "";
    return w->cut && strlen(last) >= 3 && strncmp(word, last, strlen(last)) == 0;
}

/* Words that make a model another one where they stand alone, and those that never do. */
static bool another_model(const struct words *name, const struct words *id)
{
    static const char *const neutral[] = {"nvidia",   "amd",        "instinct",  "geforce", "tesla",   "quadro",
                                          "graphics", "generation", "blackwell", "server",  "edition", "workstation",
                                          "gpu",      "device",     "huawei",    "hbm2",    "hbm2e",   "hbm3",
                                          "hbm3e",    "with",       "max",       "q",       "mig",     "board"};
    for (int i = 0; i < name->n; i++) {
        const char *word = name->items[i];
        bool last_and_cut = name->cut && i == name->n - 1;
        if (is_size(word) || is_form(word) || has_word(id, word) || last_and_cut ||
            in_list(word, neutral, sizeof neutral / sizeof *neutral))
            continue;
        return true;
    }
    return false;
}

/* "sxm2" for an SXM2 card fits exactly, "sxm" (cut) for any module, "sxm2" for an SXM3 badly. */
static double sxm_penalty(const char *word, const struct gpu *g)
{
    if (g->form_factor == NULL || !text_starts(g->form_factor, "sxm"))
        return 10;
    return text_starts(g->form_factor, word) ? 0 : 5;
}

/* Form: what the name says, else what its silence means (a maker's PCIe variants say so, its modules need not). */
static double form_penalty(const struct words *name, const struct words *id, const struct gpu *g)
{
    const char *last = name->n > 0 ? name->items[name->n - 1] : "";
    bool says_pcie = has_word(name, "pcie") || (name->cut && (is_size(last) || strcmp(last, "pci") == 0));
    bool says_nvl = has_word(name, "nvl");
    for (int i = 0; i < name->n; i++)
        if (strncmp(name->items[i], "sxm", 3) == 0)
            return sxm_penalty(name->items[i], g);
    bool nvl = has_word(id, "nvl");
    bool pcie = g->form_factor != NULL && text_find(g->form_factor, "pcie") != NULL && !nvl;
    if (says_nvl)
        return nvl ? 0 : 10;
    if (nvl)
        return 10;
    if (says_pcie)
        return pcie ? 0 : 3;
    return pcie ? 2 : 0;
}

static double memory_penalty(const struct gpu *g, double total_mib)
{
    if (!isfinite(total_mib) || g->memory_gb <= 0)
        return 0;
    double share = total_mib / 1024 / g->memory_gb;
    if (share < 0.84 || share > 1.08)
        return 100;
    return 4 * fabs(share - 0.975);
}

static double power_penalty(const struct gpu *g, double limit_w)
{
    if (!isfinite(limit_w) || g->tdp_w <= 0)
        return 0;
    double off = fabs(limit_w - g->tdp_w) / g->tdp_w;
    return off > 1 ? 1 : off;
}

/* Below 50 it fits; the less the better. */
static double misfit(const struct gpu *g, const struct words *name, double total_mib, double limit_w)
{
    struct words id;
    split(g->id, &id);
    int model_words = 0;
    for (int i = 0; i < id.n; i++) {
        if (is_size(id.items[i]) || is_form(id.items[i]) || (strcmp(id.items[i], "rtx") == 0 && !has_word(name, "rtx")))
            continue;
        model_words++;
        if (!has_word_or_cut(name, id.items[i]))
            return 1000;
    }
    if (model_words == 0 || another_model(name, &id))
        return 1000;
    return form_penalty(name, &id, g) + memory_penalty(g, total_mib) + power_penalty(g, limit_w);
}

const struct gpu *cards_match(const struct catalog *c, const char *name, double memory_total_mib, double power_limit_w)
{
    if (name == NULL)
        return NULL;
    struct words words;
    split(name, &words);
    const struct gpu *exact =
        words.cut ? NULL : catalog_gpu(c, name); /* what a cut name lacks is what tells variants */
    if (exact != NULL && memory_penalty(exact, memory_total_mib) < 50)
        return exact;
    const struct gpu *best = NULL;
    double best_misfit = 50, second = 50;
    for (size_t i = 0; i < c->n_gpus; i++) {
        double m = misfit(&c->gpus[i], &words, memory_total_mib, power_limit_w);
        if (m < best_misfit) {
            second = best_misfit;
            best_misfit = m;
            best = &c->gpus[i];
        } else if (m < second)
            second = m;
    }
    return best != NULL && second - best_misfit < 1e-9 ? NULL : best; /* two that fit alike: not known */
}
