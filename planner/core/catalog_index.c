/* catalog_index.c — what is sorted and checked once when a snapshot is built, so that a request only searches.
 *
 * Rows point at each other, so their arrays stay where they are and an index is a sorted array of pointers. Prices,
 * rates, tax codes and parameters are pointed at by nobody yet and are sorted in place. Every order ends in a unique
 * key, so that the same stored catalog always gives the same answer.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/core/catalog_lookup.h"

static int by_id(const void *a, const void *b)
{
    return strcmp(row_id(*(const void *const *)a), row_id(*(const void *const *)b));
}

static int index_rows(struct arena *arena, const char *table, const void *rows, size_t n, size_t size,
                      struct id_index *ret, struct err *err)
{
    const void **sorted = arena_array(arena, n, sizeof *sorted);
    if (sorted == NULL)
        return err_set(err, ERR_NOMEM, "no room to index %zu rows of %s", n, table);
    for (size_t i = 0; i < n; i++) {
        sorted[i] = (const unsigned char *)rows + i * size;
        if (row_id(sorted[i]) == NULL || row_id(sorted[i])[0] == '\0')
            return err_set(err, ERR_CORRUPT, "row %zu of %s has no id", i, table);
    }
    qsort(sorted, n, sizeof *sorted, by_id);
    for (size_t i = 1; i < n; i++)
        if (strcmp(row_id(sorted[i - 1]), row_id(sorted[i])) == 0)
            return err_at(err, ERR_CORRUPT, row_id(sorted[i]), "duplicate id '%s' in %s", row_id(sorted[i]), table);
    *ret = (struct id_index){.rows = sorted, .n = n};
    return 0;
}

void gpu_key_of(const char *name, char out[GPU_KEY_MAX])
{
    size_t n = 0;
    for (const char *p = name; *p != '\0' && n + 1 < GPU_KEY_MAX; p++) {
        char c = *p;
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80)
            out[n++] = c;
    }
    out[n] = '\0';
    static const char *const makers[] = {"nvidia", "amd", "huawei", "instinct", "geforce", "tesla"};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        size_t len = strlen(makers[i]);
        if (n > len && strncmp(out, makers[i], len) == 0) {
            n -= len;
            memmove(out, out + len, n + 1);
        }
    }
    for (size_t i = 1; i + 1 < n; i++) /* "80gb" is "80g" */
        if (out[i - 1] >= '0' && out[i - 1] <= '9' && out[i] == 'g' && out[i + 1] == 'b') {
            memmove(out + i + 1, out + i + 2, n - i - 1);
            n--;
        }
}

static int by_key(const void *a, const void *b)
{
    const struct gpu_key *x = a, *y = b;
    int c = strcmp(x->key, y->key);
    return c != 0 ? c : strcmp(x->gpu->id, y->gpu->id);
}

static int add_key(struct catalog *c, struct catalog_lookup *l, const char *name, const struct gpu *gpu)
{
    char key[GPU_KEY_MAX];
    gpu_key_of(name, key);
    if (key[0] == '\0')
        return 0;
    char *copy = arena_strdup(c->arena, key);
    if (copy == NULL)
        return -1;
    l->gpu_keys[l->n_gpu_keys++] = (struct gpu_key){.key = copy, .gpu = gpu};
    return 0;
}

/* Every id, name and alias of a card; one spelling must not mean two cards. */
static int index_gpu_names(struct catalog *c, struct catalog_lookup *l, struct err *err)
{
    l->gpu_keys = arena_array(c->arena, 2 * c->n_gpus + c->n_aliases, sizeof *l->gpu_keys);
    bool full = l->gpu_keys == NULL;
    for (size_t i = 0; i < c->n_gpus && !full; i++)
        full = add_key(c, l, c->gpus[i].id, &c->gpus[i]) != 0 ||
               (c->gpus[i].name != NULL && add_key(c, l, c->gpus[i].name, &c->gpus[i]) != 0);
    for (size_t i = 0; i < c->n_aliases && !full; i++) {
        if (c->aliases[i].gpu == NULL || c->aliases[i].alias == NULL)
            return err_set(err, ERR_CORRUPT, "gpu alias %zu points at no card", i);
        full = add_key(c, l, c->aliases[i].alias, c->aliases[i].gpu) != 0;
    }
    if (full)
        return err_set(err, ERR_NOMEM, "no room to index the names of cards");
    qsort(l->gpu_keys, l->n_gpu_keys, sizeof *l->gpu_keys, by_key);
    for (size_t i = 1; i < l->n_gpu_keys; i++) {
        const struct gpu_key *a = &l->gpu_keys[i - 1], *b = &l->gpu_keys[i];
        if (a->gpu != b->gpu && strcmp(a->key, b->key) == 0)
            return err_at(err, ERR_CORRUPT, b->key, "'%s' names both %s and %s", b->key, a->gpu->id, b->gpu->id);
    }
    return 0;
}

static const char *provider_key(const struct price *p)
{
    return p->provider != NULL ? p->provider->id : "";
}

static const char *class_key(const struct price *p)
{
    return p->user_class != NULL ? p->user_class : "";
}

int price_group_compare(const struct price *a, const struct price *b)
{
    if ((a->subject == SUBJECT_SKU) != (b->subject == SUBJECT_SKU))
        return a->subject == SUBJECT_SKU ? -1 : 1;
    if (a->subject == SUBJECT_SKU) {
        if (a->sku != b->sku)
            return a->sku < b->sku ? -1 : 1;
        if (a->mode != b->mode)
            return a->mode < b->mode ? -1 : 1;
        return strcmp(class_key(a), class_key(b));
    }
    if (a->subject != b->subject)
        return a->subject < b->subject ? -1 : 1;
    int c = strcmp(a->subject_id, b->subject_id);
    if (c == 0)
        c = strcmp(provider_key(a), provider_key(b));
    if (c == 0 && a->unit != b->unit)
        c = a->unit < b->unit ? -1 : 1;
    return c;
}

size_t price_group_hash(const struct price *p)
{
    size_t h = (size_t)p->subject * 64 + (size_t)p->unit;
    for (const char *c = p->subject_id; *c != '\0'; c++)
        h = (h ^ (unsigned char)*c) * 1099511628211u;
    for (const char *c = provider_key(p); *c != '\0'; c++)
        h = (h ^ (unsigned char)*c) * 1099511628211u;
    return h ^ h >> 32;
}

static int by_price(const void *a, const void *b)
{
    const struct price *x = a, *y = b;
    int c = price_group_compare(x, y);
    if (c != 0)
        return c;
    if (x->effective_from != y->effective_from)
        return x->effective_from > y->effective_from ? -1 : 1;
    if (x->term_months != y->term_months)
        return x->term_months < y->term_months ? -1 : 1;
    if (x->off_peak_only != y->off_peak_only)
        return x->off_peak_only ? 1 : -1;
    return strcmp(x->id, y->id);
}

static bool within(const void *p, const void *rows, size_t n, size_t size)
{
    const unsigned char *start = rows, *at = p;
    return at != NULL && n > 0 && at >= start && at < start + n * size;
}

static int check_prices(const struct catalog *c, struct err *err)
{
    for (size_t i = 0; i < c->n_prices; i++) {
        struct price *p = &c->prices[i];
        if (p->id == NULL)
            return err_set(err, ERR_CORRUPT, "price %zu has no id", i);
        if (p->subject == SUBJECT_SKU && !within(p->sku, c->skus, c->n_skus, sizeof *c->skus))
            return err_at(err, ERR_CORRUPT, p->id, "price %s is of no SKU", p->id);
        if (p->subject != SUBJECT_SKU && p->subject_id == NULL)
            return err_at(err, ERR_CORRUPT, p->id, "price %s is of nothing", p->id);
    }
    return 0;
}

static date_t end_of(const struct price *p)
{
    return p->effective_to == DATE_NONE ? INT32_MAX : p->effective_to;
}

/* later[i]: a search that finds price i already ended may skip to there, because those between ended even sooner. */
static void index_later(const struct catalog *c, size_t *later)
{
    for (size_t i = c->n_prices; i-- > 0;) {
        size_t j = i + 1;
        while (j < c->n_prices && price_group_compare(&c->prices[i], &c->prices[j]) == 0 &&
               end_of(&c->prices[j]) <= end_of(&c->prices[i]))
            j = later[j];
        bool same = j < c->n_prices && price_group_compare(&c->prices[i], &c->prices[j]) == 0;
        later[i] = same ? j : c->n_prices;
    }
}

static size_t group_end(const struct catalog *c, size_t first)
{
    size_t end = first + 1;
    while (end < c->n_prices && price_group_compare(&c->prices[first], &c->prices[end]) == 0)
        end++;
    return end;
}

static int index_groups(struct catalog *c, struct catalog_lookup *l, struct err *err)
{
    size_t n = 0;
    for (size_t i = l->n_sku_prices; i < c->n_prices; i = group_end(c, i))
        n++;
    for (l->n_groups = 16; l->n_groups < 2 * n;)
        l->n_groups *= 2;
    l->groups = arena_array(c->arena, l->n_groups, sizeof *l->groups);
    if (l->groups == NULL)
        return err_set(err, ERR_NOMEM, "no room to index %zu prices", c->n_prices);
    for (size_t i = l->n_sku_prices, end; i < c->n_prices; i = end) {
        size_t at = price_group_hash(&c->prices[i]);
        end = group_end(c, i);
        while (l->groups[at & (l->n_groups - 1)].end > 0)
            at++;
        l->groups[at & (l->n_groups - 1)] = (struct price_group){i, end};
    }
    return 0;
}

static int index_prices(struct catalog *c, struct catalog_lookup *l, struct err *err)
{
    struct id_index ids;
    if (check_prices(c, err) != 0 ||
        index_rows(c->arena, "prices", c->prices, c->n_prices, sizeof *c->prices, &ids, err) != 0)
        return -1;
    if (c->n_prices > 0)
        qsort(c->prices, c->n_prices, sizeof *c->prices, by_price);
    l->later = arena_array(c->arena, c->n_prices, sizeof *l->later);
    if (l->later == NULL)
        return err_set(err, ERR_NOMEM, "no room to index %zu prices", c->n_prices);
    index_later(c, l->later);
    for (size_t i = 0; i < c->n_skus; i++)
        c->skus[i].first_price = c->skus[i].n_prices = 0;
    for (size_t i = 0; i < c->n_prices && c->prices[i].subject == SUBJECT_SKU; i++) {
        struct sku *s = &c->skus[c->prices[i].sku - c->skus];
        if (s->n_prices++ == 0)
            s->first_price = i;
        l->n_sku_prices = i + 1;
    }
    return index_groups(c, l, err);
}

int fx_compare(const struct fx_rate *a, const char *base, const char *quote)
{
    int c = strcmp(a->base, base);
    return c != 0 ? c : strcmp(a->quote, quote);
}

static int by_fx(const void *a, const void *b)
{
    const struct fx_rate *x = a, *y = b;
    int c = fx_compare(x, y->base, y->quote);
    if (c != 0)
        return c;
    if (x->on != y->on)
        return x->on > y->on ? -1 : 1;
    return x->rate_micros < y->rate_micros ? -1 : x->rate_micros > y->rate_micros;
}

static int by_tax(const void *a, const void *b)
{
    const struct tax_code *x = a, *y = b;
    int c = strcmp(x->code, y->code);
    if (c == 0 && x->valid_from != y->valid_from)
        c = x->valid_from > y->valid_from ? -1 : 1;
    return c;
}

static int by_param(const void *a, const void *b)
{
    return strcmp(((const struct param *)a)->key, ((const struct param *)b)->key);
}

static int index_params(struct catalog *c, struct err *err)
{
    size_t n = c->params.n;
    struct param *rows = arena_array(c->arena, n, sizeof *rows);
    if (rows == NULL)
        return err_set(err, ERR_NOMEM, "no room to index %zu parameters", n);
    if (n > 0) {
        memcpy(rows, c->params.rows, n * sizeof *rows);
        qsort(rows, n, sizeof *rows, by_param);
    }
    for (size_t i = 1; i < n; i++)
        if (strcmp(rows[i - 1].key, rows[i].key) == 0)
            return err_at(err, ERR_CORRUPT, rows[i].key, "parameter '%s' is there twice", rows[i].key);
    c->params.rows = rows;
    return 0;
}

static int check_links(const struct catalog *c, struct err *err)
{
    for (size_t i = 0; i < c->n_skus; i++) {
        const struct sku *s = &c->skus[i];
        if (!within(s->provider, c->providers, c->n_providers, sizeof *c->providers))
            return err_at(err, ERR_CORRUPT, s->id, "SKU %s has no provider", s->id);
        if (!within(s->gpu, c->gpus, c->n_gpus, sizeof *c->gpus))
            return err_at(err, ERR_CORRUPT, s->id, "SKU %s has no card", s->id);
        if (s->gpus_per_node < 1)
            return err_at(err, ERR_CORRUPT, s->id, "SKU %s has %d cards a node", s->id, s->gpus_per_node);
    }
    for (size_t i = 0; i < c->n_lines; i++)
        if (c->lines[i].a == NULL || c->lines[i].b == NULL)
            return err_at(err, ERR_CORRUPT, c->lines[i].id, "line %s lacks an end", c->lines[i].id);
    for (size_t i = 0; i < c->n_purchases; i++)
        if (c->purchases[i].gpu == NULL)
            return err_set(err, ERR_CORRUPT, "purchase price %zu has no card", i);
    return 0;
}

#define INDEX(table) index_rows(c->arena, #table, c->table, c->n_##table, sizeof *c->table, &l->table, err)

int catalog_index(struct catalog *c, struct err *err)
{
    struct catalog_lookup *l = arena_alloc(c->arena, sizeof *l);
    if (l == NULL)
        return err_set(err, ERR_NOMEM, "no room for the catalog's indexes");
    if (INDEX(gpus) != 0 || INDEX(models) != 0 || INDEX(providers) != 0 || INDEX(links) != 0 || INDEX(networks) != 0 ||
        INDEX(storages) != 0 || INDEX(schedulers) != 0 || INDEX(skus) != 0)
        return -1;
    if (check_links(c, err) != 0 || index_gpu_names(c, l, err) != 0 || index_prices(c, l, err) != 0 ||
        index_params(c, err) != 0)
        return -1;
    if (c->n_fx_rates > 0)
        qsort(c->fx_rates, c->n_fx_rates, sizeof *c->fx_rates, by_fx);
    if (c->n_tax_codes > 0)
        qsort(c->tax_codes, c->n_tax_codes, sizeof *c->tax_codes, by_tax);
    c->lookup = l;
    return 0;
}
