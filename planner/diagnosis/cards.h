/* cards.h — the cards of a paste while they are being read: several samples of one card become one reading. */
#ifndef SUANPAN_PLANNER_DIAGNOSIS_CARDS_H
#define SUANPAN_PLANNER_DIAGNOSIS_CARDS_H

#include "planner/diagnosis/diagnosis.h"

#define CARDS_MAX 1024 /* of one paste; more are not read */

/* One card as one row of one output shows it. NAN / NULL / -1: the row does not say. */
struct card_sample {
    int index;
    const char *name, *bus_id; /* bus_id also a UUID: whatever tells cards apart */
    double memory_used_mib, memory_total_mib, utilisation_pct, memory_busy_pct, power_w, power_limit_w;
    double memory_pct; /* only where a tool prints the share instead of sizes */
    bool mig;
};

struct card_work {
    struct card_reading reading;
    unsigned n_memory, n_share, n_utilisation, n_busy, n_working, n_power;
    const char *host; /* of the machine it is in; NULL = the paste names none */
};

struct cards {
    struct arena *arena;
    struct card_work *items;
    size_t n, cap;
    const char *host;         /* the machine that what is read now was printed on; NULL = not named */
    struct card_work unknown; /* samples of nobody knows which card, taken together; .reading.samples 0 = none */
};

void cards_init(struct cards *c, struct arena *arena);
/* A line between two outputs may say which machine the next is of ("node2:", "[root@node2 ~]# nvidia-smi"), or one may
 * carry it in front ("node2: | 0  NVIDIA A40 ..."). Returns the line behind what names the machine. */
const char *cards_take_host(struct cards *c, const char *line);
void card_sample_init(struct card_sample *s);
/* Takes a sample in: into the card it is of, or as a new one. The card, or NULL when the arena or the list is full. */
struct card_work *cards_add(struct cards *c, const struct card_sample *s);
/* Takes in a sample that cannot be told from those of other cards. */
void cards_add_unknown(struct cards *c, const struct card_sample *s);
/* The card of this index, NULL when there is none. */
struct card_work *cards_find(struct cards *c, int index);

/* The catalog's card for a name as drivers print it, maybe cut ("Tesla V100-SXM2..."), with the memory and power
 * limit that tell variants apart (NAN = not known). NULL when none fits. */
const struct gpu *cards_match(const struct catalog *c, const char *name, double memory_total_mib, double power_limit_w);

#endif
