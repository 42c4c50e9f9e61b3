/* price_append.h — the one way in which a price comes after another. */
#ifndef SUANPAN_DB_PRICE_APPEND_H
#define SUANPAN_DB_PRICE_APPEND_H

#include "db/conn.h"
#include "planner/core/catalog.h"

/* As db_ops.append_prices: all or nothing, one transaction. */
int price_append(struct conn *c, const struct price *prices, size_t n, int64_t *ret_revision, struct err *err);

#endif
