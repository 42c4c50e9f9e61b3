/* topo.c — the matrix of `nvidia-smi topo -m` (rocm-smi --showtopo, npu-smi info -t topo): who reaches whom over what;
 * and `nvidia-smi nvlink -s`, which says only whether a card's links are up.
 *
 * Rows are read by their own names, so that a heading that lost columns, was coloured or is missing does no harm.
 */
#include <string.h>

#include "planner/diagnosis/readers.h"
#include "planner/diagnosis/text.h"

#define CARDS 64   /* of one matrix */
#define LINK_MAX 8 /* "NV18", "NODE" */

struct matrix {
    char links[CARDS][CARDS][LINK_MAX]; /* row card, column */
    bool has_row[CARDS];
    char nic_links[CARDS][LINK_MAX]; /* GPU0's words right of the cards' columns */
    int n_nic_links, header_cards, header_nics, nic_rows;
    bool heading_open; /* it may go on in the next line, as in a narrow window */
    int row_open;      /* the card whose row may; -1 = none */
    int up[CARDS];     /* links that nvlink -s shows as up */
    int listed;        /* cards it lists */
    bool nvlink_seen;  /* a link of theirs, up or down: more than the list of nvidia-smi -L */
    int peer_rows;     /* of topo -p2p: who may reach whose memory */
    int peers_ok, peers_not;
    bool peers_by_nvlink; /* of topo -p2p n */
    bool link_types;      /* in amd-smi's table of these, whose cards are named by their bus */
    int bus_rows;
};

static size_t next_word(const char **p, char *out, size_t size)
{
    const char *w = *p + strspn(*p, " \t|,");
    size_t n = strcspn(w, " \t|,");
    size_t kept = n < size ? n : size - 1;
    memcpy(out, w, kept);
    out[kept] = '\0';
    *p = w + n;
    *p += strspn(*p, " \t|,");
    return n;
}

static bool numbered(const char *word, const char *prefix, int *ret);

/* "GPU3", of Ascend "NPU3". */
static bool is_card(const char *word, int *ret)
{
    return numbered(word, "GPU", ret) || numbered(word, "NPU", ret);
}

static bool numbered(const char *word, const char *prefix, int *ret)
{
    if (!text_starts(word, prefix))
        return false;
    const char *p = word + strlen(prefix);
    return text_int(&p, ret) && *p == '\0';
}

static bool is_link(const char *w)
{
    static const char *const known[] = {"X",    "SYS", "NODE", "PHB",  "PXB", "PIX", "SOC",
                                        "XGMI", "C2C", "DIS",  "HCCS", "SIO", "PCIE"};
    int bonded;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(w, known[k]) == 0)
            return true;
    return strlen(w) < 6 && numbered(w, "NV", &bonded);
}

/* The words of topo -p2p. */
static bool is_peer(const char *w)
{
    static const char *const known[] = {"OK", "CNS", "GNS", "TNS", "NS", "DR", "U"};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(w, known[k]) == 0)
            return true;
    return false;
}

/* "GPU0    X   OK   NS": a row of `topo -p2p`, which says whether, and only of `-p2p n` over what. */
static bool take_peers(const char *line, struct matrix *m)
{
    char word[32];
    int row, column = 0, ok = 0, not_ok = 0;
    const char *p = text_skip_blanks(line);
    const char *command = text_find(line, "-p2p ");
    if (command != NULL && text_find(line, "topo") != NULL)
        m->peers_by_nvlink = *text_skip_blanks(command + strlen("-p2p ")) == 'n';
    next_word(&p, word, sizeof word);
    if (!is_card(word, &row) || row >= CARDS)
        return false;
    for (; next_word(&p, word, sizeof word) > 0 && column < CARDS; column++) {
        if (column == row ? strcmp(word, "X") != 0 : !is_peer(word))
            return false;
        ok += column > row && strcmp(word, "OK") == 0;
        not_ok += column > row && strcmp(word, "OK") != 0;
    }
    if (column < 2)
        return false;
    m->peer_rows = column > m->peer_rows ? column : m->peer_rows;
    m->peers_ok += ok;
    m->peers_not += not_ok;
    return true;
}

static void copy_link(char out[LINK_MAX], const char *link);

/* `amd-smi topology`: "LINK TYPE TABLE:", a line of bus ids, then "0000:22:00.0 XGMI         SELF". */
static bool take_link_types(const char *line, struct matrix *m)
{
    char word[32];
    size_t bus_len;
    const char *p = text_skip_blanks(line);
    if (text_find(p, " TABLE:") != NULL) {
        m->link_types = text_starts(p, "LINK TYPE");
        m->bus_rows = 0;
        return true;
    }
    if (!m->link_types || text_bus_id(p, &bus_len) != p || m->bus_rows >= CARDS)
        return false;
    p += bus_len;
    const int row = m->bus_rows;
    for (int column = 0; column < CARDS && next_word(&p, word, sizeof word) > 0; column++) {
        if (text_bus_id(word, &bus_len) != NULL)
            return true; /* the heading */
        copy_link(m->links[row][column], column == row ? "X" : word);
        m->has_row[row] = true;
    }
    m->bus_rows += m->has_row[row];
    return m->has_row[row];
}

static void copy_link(char out[LINK_MAX], const char *link)
{
    size_t n = strnlen(link, LINK_MAX - 1);
    memcpy(out, link, n);
    out[n] = '\0';
}

/* "        GPU0    GPU1    NIC0    CPU Affinity": how many of each. */
static bool take_heading(const char *line, struct matrix *m)
{
    char word[32];
    int cards = 0, nics = 0, number;
    const char *p = line;
    for (int i = 0; next_word(&p, word, sizeof word) > 0 && i < 4 * CARDS; i++) {
        if (is_card(word, &number)) {
            if (number != cards)
                return false;
            cards++;
        } else if (cards == 0 || is_link(word))
            return false;
        else if (strcmp(word, "CPU") == 0 || strcmp(word, "NUMA") == 0 || strcmp(word, "Affinity") == 0)
            break;
        else if (strpbrk(word, "0123456789") == NULL) /* a sentence about cards */
            return false;
        else /* NIC0, mlx5_0, bnxt_re0, rocep13s0f0, ... */
            nics++;
    }
    const char *affinity = text_find(line, "Affinity");
    if (cards == 0 || (cards == 1 && affinity == NULL))
        return false;
    m->header_cards = cards;
    m->header_nics = nics;
    m->heading_open = affinity == NULL;
    m->row_open = -1;
    return true;
}

/* "NIC2    NIC3    CPU Affinity" below a heading, "SYS     SYS     0-31" below a row: what a narrow window wrapped. */
static bool take_rest(const char *line, struct matrix *m)
{
    char word[32];
    int number, nics = 0;
    const char *p = line;
    if (m->heading_open) {
        m->heading_open = false;
        while (next_word(&p, word, sizeof word) > 0 && (numbered(word, "NIC", &number) || text_starts(word, "mlx5_")))
            nics++;
        bool rest = nics > 0 && (word[0] == '\0' || strcmp(word, "CPU") == 0);
        m->header_nics += rest ? nics : 0;
        return rest;
    }
    if (m->row_open < 0)
        return false;
    bool first = m->row_open == 0;
    m->row_open = -1;
    bool any = false;
    while (next_word(&p, word, sizeof word) > 0 && is_link(word) && strcmp(word, "X") != 0) {
        if (first && m->n_nic_links < m->header_nics && m->n_nic_links < CARDS)
            copy_link(m->nic_links[m->n_nic_links++], word);
        any = true;
    }
    return any && (word[0] == '\0' || text_is_digit(word[0]) || word[0] == 'N');
}

/* `nvidia-smi nvlink -s`: "GPU 0: NVIDIA H800 (UUID: ...)", then "\t Link 0: 26.562 GB/s" or "<inactive>". */
static bool take_nvlink(const char *line, struct matrix *m)
{
    int number;
    double rate;
    const char *p = text_skip_blanks(line);
    if (text_starts(p, "GPU ")) {
        p += strlen("GPU ");
        if (!text_int(&p, &number) || *p != ':' || number >= CARDS)
            return false;
        if (number >= m->listed)
            m->listed = number + 1;
        m->row_open = -1;
        return true;
    }
    if (m->listed > 0 && text_find(p, "all links are inActive") != NULL)
        return m->nvlink_seen = true;
    if (m->listed == 0 || !text_starts(p, "Link "))
        return false;
    p += strlen("Link ");
    if (!text_int(&p, &number) || *p != ':')
        return false;
    p = text_skip_blanks(p + 1);
    if (text_number(&p, &rate) && rate > 0 && text_starts(text_skip_blanks(p), "GB/s"))
        m->up[m->listed - 1]++;
    m->nvlink_seen = true;
    return true;
}

/* "GPU0     X      NV8     NV8 ...": at least two words that are links. */
static void take_row(const char *line, struct matrix *m)
{
    char word[32];
    int row;
    const char *p = text_skip_blanks(line);
    while (*p == '|' || text_is_blank(*p))
        p++;
    next_word(&p, word, sizeof word);
    bool card = is_card(word, &row);
    if (card && row >= CARDS)
        return;
    char links[CARDS + CARDS][LINK_MAX];
    int n = 0;
    while (n < 2 * CARDS && next_word(&p, word, sizeof word) > 0) {
        bool self = card && n == row && strcmp(word, "0") == 0; /* rocm-smi's X */
        if (!self && !is_link(word))
            break;
        copy_link(links[n++], self ? "X" : word);
    }
    bool other = text_is_alnum(word[0]) && !text_is_digit(word[0]) && !text_starts(word, "N/A") && !is_link(word);
    if (card && n > 0 && other) /* "OK", "CNS": the matrix of topo -p2p */
        return;
    if (n == 0 || !card) { /* a NIC's row; "X    = Self" of the legend is none */
        m->nic_rows += !card && n >= 2;
        return;
    }
    if (strcspn(links[row < n ? row : 0], "X") != 0) /* no matrix has anything else on its diagonal */
        return;
    m->has_row[row] = true;
    m->row_open = row;
    int cards = m->header_cards > 0 && m->header_cards < n ? m->header_cards : n;
    for (int c = 0; c < cards && c < CARDS; c++)
        copy_link(m->links[row][c], links[c]);
    if (row == 0 && m->header_cards > 0)
        for (int c = cards; c < n && m->n_nic_links < m->header_nics && m->n_nic_links < CARDS; c++)
            copy_link(m->nic_links[m->n_nic_links++], links[c]);
}

/* Cards of the matrix: rows that are there; a cut matrix may only have the heading's columns. */
static int count_cards(const struct matrix *m)
{
    int rows = 0;
    for (int i = 0; i < CARDS; i++)
        if (m->has_row[i])
            rows = i + 1;
    return rows > m->header_cards ? rows : m->header_cards < CARDS ? m->header_cards : CARDS;
}

static bool is_nvlink(const char *link)
{
    return strncmp(link, "NV", 2) == 0 || strcmp(link, "XGMI") == 0 || strncmp(link, "HCCS", 4) == 0 ||
           strcmp(link, "SIO") == 0;
}

static const char *link_between(const struct matrix *m, int a, int b)
{
    if (m->links[a][b][0] != '\0')
        return m->links[a][b];
    return m->links[b][a];
}

static void add_kind(const char **kinds, size_t *n, const char *link)
{
    size_t at = 0;
    while (at < *n && strcmp(kinds[at], link) < 0)
        at++;
    if (at < *n && strcmp(kinds[at], link) == 0)
        return;
    memmove(kinds + at + 1, kinds + at, (*n - at) * sizeof *kinds);
    kinds[at] = link;
    ++*n;
}

/* Whether every card reaches card 0 over NVLink, maybe through others (a DGX-1's mesh does, four bridged pairs do
 * not): then a ring over all cards never leaves it. */
static bool connected(const struct matrix *m, int cards)
{
    bool reached[CARDS] = {true};
    int n = 1;
    for (bool grew = true; grew;) {
        grew = false;
        for (int a = 0; a < cards; a++)
            for (int b = 0; b < cards && reached[a]; b++)
                if (!reached[b] && is_nvlink(link_between(m, a, b))) {
                    reached[b] = grew = true;
                    n++;
                }
    }
    return n == cards;
}

/* From nvlink -s alone. All links of all cards down: nothing but PCIe is left. Two cards with links up have them to one
 * another; of more nobody knows whose links lead where. */
static void conclude_listed(const struct matrix *m, struct arena *arena, struct topology *t)
{
    int up = 0, least = m->up[0];
    for (int i = 0; i < m->listed; i++) {
        up += m->up[i];
        least = m->up[i] < least ? m->up[i] : least;
    }
    t->read = true;
    t->gpus = m->listed;
    if (m->listed == 2 && least > 0) {
        const char **kind = arena_array(arena, 1, sizeof *kind);
        if (kind == NULL)
            return;
        t->link = kind[0] = arena_printf(arena, "NV%d", least);
        t->kinds = kind;
        t->n_kinds = 1;
        t->nvlink_pairs = 1;
        t->nvlink_connected = true;
    } else if (m->listed > 1 && up == 0) {
        t->pcie_pairs = m->listed * (m->listed - 1) / 2;
        t->pcie_bound = true;
    }
}

/* From topo -p2p alone: how many cards; over what they reach one another only where NVLink was asked for. */
static void conclude_peers(const struct matrix *m, struct topology *t)
{
    t->read = true;
    t->gpus = m->peer_rows;
    if (!m->peers_by_nvlink)
        return;
    t->nvlink_pairs = m->peers_ok;
    t->pcie_pairs = m->peers_not;
    t->nvlink_connected = m->peers_not == 0;
    t->pcie_bound = m->peers_ok == 0;
}

static void conclude(const struct matrix *m, struct arena *arena, struct topology *t)
{
    int cards = count_cards(m);
    bool any_row = false;
    for (int i = 0; i < CARDS; i++)
        any_row = any_row || m->has_row[i];
    if (!any_row) {
        if (m->listed > 0 && m->nvlink_seen)
            conclude_listed(m, arena, t);
        else if (m->peer_rows > 0)
            conclude_peers(m, t);
        return;
    }
    t->read = true;
    t->gpus = cards;
    t->nics = m->nic_rows > m->header_nics ? m->nic_rows : m->header_nics;
    const char **kinds = arena_array(arena, CARDS * CARDS / 2 + 1, sizeof *kinds);
    const char **nics = arena_array(arena, CARDS, sizeof *nics);
    if (kinds == NULL || nics == NULL)
        return;
    for (int a = 0; a < cards; a++)
        for (int b = a + 1; b < cards; b++) {
            const char *link = arena_strdup(arena, link_between(m, a, b));
            if (link == NULL || link[0] == '\0' || strcmp(link, "X") == 0)
                continue;
            if (a == 0 && b == 1)
                t->link = link;
            add_kind(kinds, &t->n_kinds, link);
            *(is_nvlink(link) ? &t->nvlink_pairs : &t->pcie_pairs) += 1;
        }
    for (int i = 0; i < m->n_nic_links; i++)
        nics[t->n_nic_links++] = arena_strdup(arena, m->nic_links[i]);
    t->kinds = kinds;
    t->nic_links = nics;
    t->nvlink_connected = cards > 1 && connected(m, cards);
    t->pcie_bound = t->pcie_pairs > 0 && !t->nvlink_connected;
}

void read_topo(char *text, struct arena *arena, struct topology *topology)
{
    struct matrix *m = arena_alloc(arena, sizeof *m);
    if (m == NULL)
        return;
    m->row_open = -1;
    for (char *cursor = text, *line; (line = text_line(&cursor)) != NULL;)
        if (!take_link_types(line, m) && !take_nvlink(line, m) && !take_peers(line, m) && !take_heading(line, m) &&
            !take_rest(line, m))
            take_row(line, m);
    conclude(m, arena, topology);
}
