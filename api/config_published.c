/* config_published.c — the sizes of a recognised model: what was published counts, and the answer says so.
 *
 * A card's figure is a fact about the weights; a count from dimensions is ours. Where they differ by more than the
 * tolerance both are told, with the difference, so that nobody mistakes one for the other.
 */
#include <math.h>

#include "api/config_view.h"

#define PUBLISHED_TOLERANCE 0.02
#define ANOTHER_MODEL 0.2 /* a count further off is of another model with the same text part: another tower, say */

static double billions(double params)
{
    return params / 1e9;
}

/* Counted against published, where they are not the same. */
static void note_difference(struct note_list *notes, const char *code, const char *name, double counted,
                            double published)
{
    if (fabs(counted / published - 1) <= PUBLISHED_TOLERANCE)
        return;
    struct note *n = note_text(note_add(notes, code), "name", name);
    note_num(n, "counted_b", billions(counted));
    note_num(n, "published_b", billions(published));
    note_percent(n, "difference", counted / published - 1);
}

static void note_match(const struct config_match *found, struct note_list *notes)
{
    const struct model *row = found->row;
    if (row) {
        struct note *n = note_add(notes, found->unlike ? "config_recognised_unlike" : "config_recognised");
        note_text(n, "name", found->names && *found->names ? found->names : row->name);
        note_num(n, "params_b", billions(row->params));
        note_num(n, "active_b", billions(row->active_params));
        note_text(n, "source", row->source);
    }
    if (found->facts)
        note_text(note_text(note_add(notes, found->equal ? "config_gaps_filled" : "config_gaps_by_family"), "facts",
                            found->facts),
                  "name", found->names);
}

void config_take_published(const struct config_view *v, struct config_match *found, struct note_list *notes,
                           struct model *m)
{
    if (config_encoder_only(v) || (config_headless(v) && m->causal != TRI_NO))
        found->row = NULL; /* a part of what was published */
    if (found->row && !found->unlike && fabs(m->params / found->row->params - 1) > ANOTHER_MODEL)
        found->row = NULL;
    if (found->row && found->unlike)
        found->names = found->row->name;
    if (notes)
        note_match(found, notes);
    if (!found->row)
        return;
    const struct model *row = found->row;
    double counted = m->params, active = m->active_params;
    m->params = row->params;
    m->active_params = row->active_params > 0 ? row->active_params : row->params;
    if (m->experts > 0 && !found->unlike) /* cards round: the work is what the dimensions say */
        m->counted_active = active;
    if (!*m->name)
        m->name = row->name;
    if (!notes)
        return;
    note_difference(notes, "config_count_differs", row->name, counted, m->params);
    if (m->experts > 0 && !found->unlike)
        note_difference(notes, "config_active_differs", row->name, active, m->active_params);
}
