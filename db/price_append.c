/* price_append.c — history is added to, never changed.
 *
 * A price belongs to a key (subject, what exactly, seller, mode, unit, term, user class). Appending ends the key's open
 * interval where the new one begins. A price that would begin before or on the day its predecessor began, or inside
 * an interval that was closed already, would rewrite what earlier answers were made from: ERR_CONFLICT.
 */
#include "db/price_append.h"

#include <string.h>

#include "base/buf.h"
#include "db/table.h"

#define SAME_KEY                                                                                                       \
    " subject = ?1 AND ifnull(sku_id, '') = ?2 AND subject_id = ?3 AND ifnull(provider_id, '') = ?4 AND mode = ?5"     \
    " AND unit = ?6 AND term_months = ?7 AND user_class = ?8"

struct append {
    struct conn *conn;
    sqlite3_stmt *newest, *close, *insert;
};

static const char *or_empty(const char *s)
{
    return s ? s : "";
}

static int bind_key(struct append *a, const struct price *p, struct err *err)
{
    const char *texts[] = {price_subject_name(p->subject),     p->sku ? p->sku->id : "",   or_empty(p->subject_id),
                           p->provider ? p->provider->id : "", pricing_mode_name(p->mode), price_unit_name(p->unit)};
    int rc = SQLITE_OK;
    sqlite3_reset(a->newest);
    for (int i = 0; i < 6; i++) {
        if (!texts[i])
            return err_set(err, ERR_INVALID, "price with an unknown subject, mode or unit");
        if (rc == SQLITE_OK)
            rc = sqlite3_bind_text(a->newest, i + 1, texts[i], -1, SQLITE_TRANSIENT);
    }
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_int(a->newest, 7, p->term_months);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(a->newest, 8, or_empty(p->user_class), -1, SQLITE_TRANSIENT);
    return rc == SQLITE_OK ? 0 : conn_fail(a->conn, rc, "bind price key", err);
}

static int end_interval(struct append *a, const char *id, const char *on, struct err *err)
{
    sqlite3_reset(a->close);
    int rc = sqlite3_bind_text(a->close, 1, on, -1, SQLITE_TRANSIENT);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(a->close, 2, id, -1, SQLITE_TRANSIENT);
    return rc == SQLITE_OK ? conn_step_done(a->conn, a->close, err) : conn_fail(a->conn, rc, "bind price", err);
}

/* Intervals of a key follow one another, so its newest row decides: nothing may begin before it or run over its end. */
static int succeed(struct append *a, const struct price *p, struct err *err)
{
    char from[DATE_TEXT_MAX];
    date_text(p->effective_from, from);
    if (bind_key(a, p, err) != 0)
        return -1;
    int rc = sqlite3_step(a->newest);
    if (rc == SQLITE_DONE)
        return 0;
    if (rc != SQLITE_ROW)
        return conn_fail(a->conn, rc, "read price history", err);
    const char *id = (const char *)sqlite3_column_text(a->newest, 0);
    const char *begins = (const char *)sqlite3_column_text(a->newest, 1);
    const char *ends = (const char *)sqlite3_column_text(a->newest, 2);
    if (!id || !begins)
        return err_set(err, ERR_NOMEM, "read price history");
    if (strcmp(begins, from) >= 0 || (ends && strcmp(ends, from) > 0))
        return err_set(err, ERR_CONFLICT, "price %s would change history: %s holds from %s", or_empty(p->id), id,
                       begins);
    return ends ? 0 : end_interval(a, id, from, err);
}

static int append_one(struct append *a, const struct table *t, const struct price *p, struct err *err)
{
    if (p->effective_from == DATE_NONE || p->observed_on == DATE_NONE)
        return err_set(err, ERR_INVALID, "price %s without its dates", or_empty(p->id));
    if (succeed(a, p, err) != 0)
        return -1;
    sqlite3_reset(a->insert);
    for (size_t i = 0; i < t->n_columns; i++)
        if (column_bind_member(a->insert, (int)i + 1, &t->columns[i], p, err) != 0)
            return -1;
    return conn_step_done(a->conn, a->insert, err);
}

static int prepare_insert(struct append *a, const struct table *t, struct err *err)
{
    struct buf sql;
    buf_init(&sql, 8192);
    buf_addf(&sql, "INSERT INTO %s (", t->name);
    for (size_t i = 0; i < t->n_columns; i++)
        buf_addf(&sql, "%s%s", i ? ", " : "", t->columns[i].name);
    buf_adds(&sql, ") VALUES (");
    for (size_t i = 0; i < t->n_columns; i++)
        buf_adds(&sql, i ? ", ?" : "?");
    buf_adds(&sql, ")");
    int rc =
        buf_failed(&sql) ? err_set(err, ERR_NOMEM, "statement text") : conn_prepare(a->conn, sql.data, &a->insert, err);
    buf_done(&sql);
    return rc;
}

static int append_all(struct append *a, const struct price *prices, size_t n, int64_t *ret_revision, struct err *err)
{
    static const char newest[] =
        "SELECT id, effective_from, effective_to FROM prices WHERE" SAME_KEY " ORDER BY effective_from DESC LIMIT 1";
    static const char close[] = "UPDATE prices SET effective_to = ?1 WHERE id = ?2";
    const struct table *t = &db_tables[TABLE_PRICES];
    if (conn_prepare(a->conn, newest, &a->newest, err) != 0 || conn_prepare(a->conn, close, &a->close, err) != 0 ||
        prepare_insert(a, t, err) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (append_one(a, t, &prices[i], err) != 0)
            return -1;
    if (conn_run(a->conn, "UPDATE catalog_meta SET revision = revision + 1 WHERE id = 1", err) != 0)
        return -1;
    return conn_int64(a->conn, "SELECT revision FROM catalog_meta WHERE id = 1", ret_revision, err);
}

int price_append(struct conn *c, const struct price *prices, size_t n, int64_t *ret_revision, struct err *err)
{
    struct append a = {.conn = c};
    int64_t revision = 0;
    if (conn_run(c, "BEGIN IMMEDIATE", err) != 0)
        return -1;
    int rc = append_all(&a, prices, n, &revision, err);
    sqlite3_finalize(a.newest);
    sqlite3_finalize(a.close);
    sqlite3_finalize(a.insert);
    if (rc == 0)
        rc = conn_run(c, "COMMIT", err);
    if (rc != 0) {
        conn_rollback(c);
        return -1;
    }
    *ret_revision = revision;
    return 0;
}
