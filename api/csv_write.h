/* csv_write.h — CSV that spreadsheets open as it is meant: CRLF, quoting by RFC 4180, no formulas from text cells.
 *
 * Text that starts like a formula gets an apostrophe; numbers never do, so that negative amounts stay numbers.
 */
#ifndef SUANPAN_API_CSV_WRITE_H
#define SUANPAN_API_CSV_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/date.h"

struct csv {
    struct buf *out;
    bool inside;      /* a cell of this row was written */
    const bool *keep; /* one a column: whether it is written; NULL = all are */
    size_t column;    /* of the next cell */
};

void csv_text(struct csv *c, const char *s); /* NULL = empty */
void csv_number(struct csv *c, double v);    /* not finite = empty */
void csv_int(struct csv *c, int64_t v);
void csv_money(struct csv *c, int64_t minor);
void csv_date(struct csv *c, date_t d); /* DATE_NONE = empty */
void csv_bool(struct csv *c, bool v);
void csv_empty(struct csv *c);
void csv_end_row(struct csv *c);

#endif
