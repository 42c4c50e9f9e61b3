/* encode.h — what planner/ answers, as JSON with the field names of docs/api.md. */
#ifndef SUANPAN_API_ENCODE_H
#define SUANPAN_API_ENCODE_H

#include "api/json_write.h"
#include "api/message.h"
#include "planner/core/catalog.h"
#include "planner/core/estimate.h"
#include "planner/core/plan.h"

/* What every encoder needs to turn codes into words and amounts into money. */
struct encode {
    struct jw w;
    const struct catalog *catalog;
    enum language language;
    const char *currency;
    struct buf words; /* scratch of encode_words, freed by encode_done */
    /* The options of a plan mostly share one service: the member last written, to be copied where the next is equal. */
    const struct reserve *reserve;
    size_t reserve_from, reserve_to; /* in the buffer of w */
    struct message_said said[MESSAGE_SAID_MAX];
};

/* A note in words, good until the next call. Never NULL. */
const char *encode_words(struct encode *e, const struct note *n);
void encode_done(struct encode *e);

/* A note in words as a member. */
void encode_sentence(struct encode *e, const char *key, const struct note *n);

/* So an assumption, by its name. */
void encode_assumption_words(struct encode *e, const char *key, const char *name);

/* {"code","text","short_by","values":{...}} */
void encode_note(struct encode *e, const char *key, const struct note *n);
void encode_notes(struct encode *e, const char *key, const struct note_list *list);
/* The members of encode_note without the braces, for objects that hold more. */
void encode_note_members(struct encode *e, const struct note *n);

void encode_layout(struct encode *e, const char *key, const struct layout *l);
void encode_model(struct encode *e, const char *key, const struct model *m);
/* `assumed` (may be NULL): notes put before the estimate's own assumptions. `model` may be NULL. */
void encode_estimate(struct encode *e, const char *key, const struct estimate *est, const struct note_list *assumed,
                     const struct model *model);

#endif
