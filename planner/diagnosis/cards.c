/* cards.c — samples into cards. */
#include "planner/diagnosis/cards.h"

#include <math.h>
#include <string.h>

#include "planner/diagnosis/text.h"

#define WORKING_PCT 50.0 /* a sample counts as work when the card was busy for half of it */

void card_sample_init(struct card_sample *s)
{
    *s = (struct card_sample){.index = -1,
                              .memory_used_mib = NAN,
                              .memory_total_mib = NAN,
                              .utilisation_pct = NAN,
                              .memory_busy_pct = NAN,
                              .power_w = NAN,
                              .power_limit_w = NAN,
                              .memory_pct = NAN};
}

#define MIB_MAX 1e9 /* beyond are misreadings */
#define WATT_MAX 1e5

/* One more sample of a mean; what is no number, or none that can be, is none. */
static void mean_in(double *mean, unsigned *n, double x, double most)
{
    if (!(x >= 0 && x <= most))
        return;
    if (*n == 0)
        *mean = x;
    else
        *mean += (x - *mean) / (*n + 1.0);
    ++*n;
}

static bool is_uuid(const char *key)
{
    return text_starts(key, "GPU-");
}

/* "00000000:07:00.0" and "0000:07:00.0" are one place. */
static const char *without_domain_zeros(const char *bus_id)
{
    while (*bus_id == '0' && bus_id[1] != ':' && bus_id[1] != '\0')
        bus_id++;
    return bus_id;
}

/* Two machines pasted one below the other have the same indexes: another host, bus or card is another machine. */
static bool same_card(const struct card_work *w, const struct card_sample *s, const char *host)
{
    const struct card_reading *r = &w->reading;
    if (host != NULL && w->host != NULL && strcmp(host, w->host) != 0)
        return false;
    if (s->index >= 0 && r->index != s->index)
        return false;
    if (s->bus_id != NULL && r->bus_id != NULL && is_uuid(s->bus_id) == is_uuid(r->bus_id))
        return strcmp(without_domain_zeros(s->bus_id), without_domain_zeros(r->bus_id)) == 0;
    if (s->index < 0)
        return false;
    return s->name == NULL || r->name == NULL || strcmp(s->name, r->name) == 0;
}

static struct card_reading blank(int index)
{
    return (struct card_reading){.index = index,
                                 .memory_used_mib = NAN,
                                 .memory_total_mib = NAN,
                                 .memory_used_gb = NAN,
                                 .memory_total_gb = NAN,
                                 .utilisation_pct = NAN,
                                 .memory_busy_pct = NAN,
                                 .memory_busy_working_pct = NAN,
                                 .power_w = NAN,
                                 .power_limit_w = NAN,
                                 .memory_pct = NAN};
}

void cards_init(struct cards *c, struct arena *arena)
{
    *c = (struct cards){.arena = arena};
    c->unknown.reading = blank(-1);
}

static struct card_work *card_of(struct cards *c, const struct card_sample *s)
{
    for (size_t i = 0; i < c->n; i++)
        if (same_card(&c->items[i], s, c->host))
            return &c->items[i];
    if (c->n == CARDS_MAX)
        return NULL;
    struct card_work *w = arena_push(c->arena, c);
    if (w != NULL) {
        w->reading = blank(s->index >= 0 ? s->index : (int)c->n - 1);
        w->host = c->host;
    }
    return w;
}

static void take_in(struct card_work *w, const struct card_sample *s)
{
    struct card_reading *r = &w->reading;
    r->samples++;
    if (r->name == NULL)
        r->name = s->name;
    if (r->bus_id == NULL)
        r->bus_id = s->bus_id;
    if (s->memory_total_mib > 0 && s->memory_total_mib <= MIB_MAX)
        r->memory_total_mib = s->memory_total_mib;
    if (s->power_limit_w > 0 && s->power_limit_w <= WATT_MAX)
        r->power_limit_w = s->power_limit_w;
    r->mig = r->mig || s->mig;
    mean_in(&r->memory_pct, &w->n_share, s->memory_pct, 100);
    mean_in(&r->memory_used_mib, &w->n_memory, s->memory_used_mib, MIB_MAX);
    mean_in(&r->utilisation_pct, &w->n_utilisation, s->utilisation_pct, 100);
    mean_in(&r->memory_busy_pct, &w->n_busy, s->memory_busy_pct, 100);
    if (s->utilisation_pct >= WORKING_PCT)
        mean_in(&r->memory_busy_working_pct, &w->n_working, s->memory_busy_pct, 100);
    mean_in(&r->power_w, &w->n_power, s->power_w, WATT_MAX);
}

/* Letters, digits, dots and dashes: a host's name that ends at *ret_n. */
static const char *host_name(const char *p, size_t *ret_n)
{
    size_t n = 0;
    while (text_is_alnum(p[n]) || p[n] == '-' || p[n] == '_' || p[n] == '.')
        n++;
    *ret_n = n;
    return p;
}

/* "kubectl exec -it train-1 -- nvidia-smi", "ssh root@gpu02 nvidia-smi": where a command sends it. */
static const char *host_of_command(const char *line, size_t *ret_n)
{
    static const char *const senders[] = {"exec ", "ssh "};
    for (size_t i = 0; i < sizeof senders / sizeof *senders; i++) {
        const char *p = text_find_word(line, senders[i]);
        if (p == NULL || text_find(p, "-smi") == NULL)
            continue;
        p = text_skip_blanks(p + strlen(senders[i]));
        for (; *p == '-'; p = text_skip_blanks(p)) /* its options; those with a value of their own are rare */
            p += strcspn(p, " \t");
        const char *end = p + strcspn(p, " \t"), *at = memchr(p, '@', (size_t)(end - p));
        const char *name = host_name(at != NULL ? at + 1 : p, ret_n);
        if (*ret_n > 1 && text_is_alnum(*name))
            return name;
    }
    return NULL;
}

/* "root@node2:~# nvidia-smi", "[root@node2 ~]# nvidia-smi": the command must be there, a prompt alone may be anybody's.
 */
static const char *host_of_prompt(const char *line, size_t *ret_n)
{
    const char *elsewhere = host_of_command(line, ret_n), *at = strchr(line, '@');
    if (elsewhere != NULL)
        return elsewhere;
    if (at == NULL || text_find(at, "smi") == NULL)
        return NULL;
    return host_name(at + 1, ret_n);
}

/* "node2:", "== node2 ==", "node2 | CHANGED | rc=0 >>": a line with nothing but a name that ends in a number. */
static const char *host_of_label(const char *line, size_t *ret_n)
{
    const char *p = line + strspn(line, " \t=-#[*>"), *name = host_name(p, ret_n), *rest = name + *ret_n;
    while (*ret_n > 0 && !text_is_alnum(name[*ret_n - 1]))
        --*ret_n;
    bool named =
        *ret_n > 2 && text_is_digit(name[*ret_n - 1]) && !text_is_digit(name[0]) && strncmp(name, "GPU", 3) != 0;
    bool ansible = text_find(rest, "| rc=") != NULL;
    return named && (ansible || rest[strspn(rest, " \t=-:]*")] == '\0') ? name : NULL;
}

/* "node2: | 0  NVIDIA A40 ...", "node2: 0, NVIDIA A40, ...": pdsh and clush put the host in front of every line. */
static const char *host_in_front(const char *line, size_t *ret_n, const char **ret_rest)
{
    const char *start = text_skip_blanks(line), *name = host_name(start + (*start == '['), ret_n), *p = name + *ret_n;
    if (*ret_n < 2 || *p != (*start == '[' ? ']' : ':') || text_is_digit(*name))
        return NULL;
    p = text_skip_blanks(p + 1);
    *ret_rest = p;
    if (*p == '|' || *p == '+')
        return name;
    if (!text_is_digit(name[*ret_n - 1]))
        return NULL;
    return text_find(p, "NVIDIA ") != NULL || text_find(p, "MiB") != NULL ? name : NULL;
}

const char *cards_take_host(struct cards *c, const char *line)
{
    size_t n = strlen(line + (*line != '\0'));
    const bool marked = *line == TEXT_HOST_MARK;
    const char *rest = line, *name = marked ? line + 1 : host_in_front(line, &n, &rest);
    if (name == NULL) {
        rest = line;
        name = host_of_prompt(line, &n);
    }
    if (marked)
        rest = line + strlen(line);
    if (name == NULL && (name = host_of_label(line, &n)) != NULL)
        for (size_t i = 0; i < c->n && c->host == NULL; i++) /* above it stands another machine, whose label was cut */
            if (c->items[i].host == NULL)
                c->items[i].host = "";
    bool other = name != NULL && n > 0 && (c->host == NULL || strlen(c->host) != n || strncmp(c->host, name, n) != 0);
    if (other)
        c->host = arena_strndup(c->arena, name, n);
    return rest;
}

struct card_work *cards_add(struct cards *c, const struct card_sample *s)
{
    struct card_work *w = card_of(c, s);
    if (w != NULL)
        take_in(w, s);
    return w;
}

void cards_add_unknown(struct cards *c, const struct card_sample *s)
{
    take_in(&c->unknown, s);
}

struct card_work *cards_find(struct cards *c, int index)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].reading.index == index)
            return &c->items[i];
    return NULL;
}
