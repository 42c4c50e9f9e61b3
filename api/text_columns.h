/* text_columns.h — text for a terminal: widths with East Asian characters counted as two, padding, wrapping. */
#ifndef SUANPAN_API_TEXT_COLUMNS_H
#define SUANPAN_API_TEXT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define TEXT_COLUMNS 80

/* Columns that the text takes. */
size_t text_width(const char *s);
/* Cut to `width` columns (with '…') and padded to them; `right`: padded on the left. */
void text_cell(struct buf *out, const char *s, size_t width, bool right);
/* Wrapped at TEXT_COLUMNS, continuation lines indented; ends with a newline. `at`: columns already used. */
void text_wrap(struct buf *out, const char *s, size_t at, size_t indent);

#endif
