/* catalog_load.c — every table into one arena, references resolved to pointers.
 *
 * Tables are read in the order of db_tables, each sorted by its key, so that a reference is a binary search among rows
 * that are complete. Neighbouring rows share equal texts (sources, notes): each column remembers its last one.
 */
#include "db/catalog_load.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "db/table.h"

#define CATALOG_BYTES_MAX ((size_t)1 << 30)

struct reading {
    struct conn *conn;
    struct catalog *catalog;
    const struct column *columns;
    size_t n_columns;
    const char *last[TABLE_COLUMNS_MAX];
    struct err *err;
};

static int by_id(const void *key, const void *row)
{
    return strcmp(key, *(const char *const *)row);
}

static const void *find_row(const struct catalog *c, enum table_id id, const char *key)
{
    const struct table *t = &db_tables[id];
    const void *items = *(void *const *)(const void *)((const char *)c + t->items);
    size_t n = *(const size_t *)(const void *)((const char *)c + t->count);
    return items ? bsearch(key, items, n, t->row_size, by_id) : NULL;
}

static const char *keep_text(struct reading *r, size_t column, const char *text)
{
    if (!r->last[column] || strcmp(r->last[column], text) != 0)
        r->last[column] = text[0] == '\0' ? "" : arena_strdup(r->catalog->arena, text);
    return r->last[column];
}

static int bad_value(struct reading *r, const struct column *c, const char *text)
{
    return err_set(r->err, ERR_CORRUPT, "stored %s '%.60s' is not valid", c->name, text);
}

static int read_text(struct reading *r, size_t i, const char *text, void *member)
{
    const struct column *c = &r->columns[i];
    const char *kept;
    const void *target;
    switch ((int)c->type) {
    case COL_DATE:
        if (text[0] == '\0')
            *(date_t *)member = DATE_NONE;
        else if (date_parse(text, (date_t *)member) != 0)
            return bad_value(r, c, text);
        return 0;
    case COL_CURRENCY:
        memcpy(member, text, strnlen(text, 3));
        return 0;
    case COL_ENUM:
        return c->codec->parse(text, member) == 0 ? 0 : bad_value(r, c, text);
    case COL_REF:
        target = text[0] == '\0' ? NULL : find_row(r->catalog, c->ref, text);
        if (!target && text[0] != '\0')
            return bad_value(r, c, text);
        memcpy(member, &target, sizeof target);
        return 0;
    default:
        kept = keep_text(r, i, text);
        memcpy(member, &kept, sizeof kept);
        return 0;
    }
}

static int read_column(struct reading *r, sqlite3_stmt *stmt, size_t i, void *row)
{
    const struct column *c = &r->columns[i];
    if (c->offset == COLUMN_NO_MEMBER)
        return 0;
    void *member = (char *)row + c->offset;
    switch (c->type) {
    case COL_REAL:
        *(double *)member = sqlite3_column_double(stmt, (int)i);
        return 0;
    case COL_INT:
        *(int *)member = sqlite3_column_int(stmt, (int)i);
        return 0;
    case COL_INT64:
    case COL_MICROS:
        *(int64_t *)member = sqlite3_column_int64(stmt, (int)i);
        return 0;
    case COL_BOOL:
        *(bool *)member = sqlite3_column_int(stmt, (int)i) != 0;
        return 0;
    case COL_TEXT:
    case COL_DATE:
    case COL_CURRENCY:
    case COL_ENUM:
    case COL_REF:
        break;
    }
    const char *text = (const char *)sqlite3_column_text(stmt, (int)i);
    return read_text(r, i, text ? text : "", member);
}

/* `items` has room for `n` rows of this statement. */
static int read_rows(struct reading *r, const char *sql, void *items, size_t n, size_t row_size)
{
    _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
    if (conn_prepare(r->conn, sql, &stmt, r->err) != 0)
        return -1;
    size_t got = 0;
    int rc;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        if (got == n)
            return err_set(r->err, ERR_CORRUPT, "more rows than were counted");
        for (size_t i = 0; i < r->n_columns; i++)
            if (read_column(r, stmt, i, (char *)items + got * row_size) != 0)
                return -1;
        got++;
    }
    if (rc != SQLITE_DONE)
        return conn_fail(r->conn, rc, "read catalog", r->err);
    if (arena_failed(r->catalog->arena))
        return err_set(r->err, ERR_NOMEM, "catalog over %zu bytes", CATALOG_BYTES_MAX);
    return got == n ? 0 : err_set(r->err, ERR_CORRUPT, "fewer rows than were counted");
}

static int read_list(struct reading *r, const char *count_sql, const char *sql, size_t row_size, void **ret_items,
                     size_t *ret_n)
{
    int64_t n = 0;
    if (conn_int64(r->conn, count_sql, &n, r->err) != 0)
        return -1;
    void *items = arena_array(r->catalog->arena, n ? (size_t)n : 1, row_size);
    if (!items)
        return err_set(r->err, ERR_NOMEM, "catalog over %zu bytes", CATALOG_BYTES_MAX);
    if (read_rows(r, sql, items, (size_t)n, row_size) != 0)
        return -1;
    *ret_items = items;
    *ret_n = (size_t)n;
    return 0;
}

static int load_table(struct conn *c, struct catalog *catalog, const struct table *t, struct err *err)
{
    struct reading r = {.conn = c, .catalog = catalog, .columns = t->columns, .n_columns = t->n_columns, .err = err};
    struct buf sql, count;
    void *items = NULL;
    size_t n = 0;
    buf_init(&sql, 8192);
    buf_init(&count, 128);
    buf_addf(&count, "SELECT count(*) FROM %s", t->name);
    buf_adds(&sql, "SELECT ");
    for (size_t i = 0; i < t->n_columns; i++)
        buf_addf(&sql, "%s%s", i ? ", " : "", t->columns[i].name);
    buf_addf(&sql, " FROM %s ORDER BY %s", t->name, t->order_by);
    int rc = buf_failed(&sql) || buf_failed(&count) ? err_set(err, ERR_NOMEM, "statement text")
                                                    : read_list(&r, count.data, sql.data, t->row_size, &items, &n);
    buf_done(&sql);
    buf_done(&count);
    if (rc == 0) {
        memcpy((char *)catalog + t->items, &items, sizeof items);
        memcpy((char *)catalog + t->count, &n, sizeof n);
    }
    return rc;
}

/* Both tables in one list, sorted by the key that code binds by. */
static int load_params(struct conn *c, struct catalog *catalog, struct err *err)
{
    static const char sql[] =
        "SELECT name || CASE WHEN gpu_class <> '' THEN '/' || gpu_class ELSE '' END"
        " || CASE WHEN precision <> '' THEN '/' || precision ELSE '' END"
        " || CASE WHEN class <> '' THEN '/' || class ELSE '' END AS key,"
        " value, ifnull(min, value), ifnull(max, value), unit, overridable, kind, gpu_class, precision, class,"
        " evidence, source, source_date FROM (SELECT 'assumption' AS kind, * FROM assumptions"
        " UNION ALL SELECT 'calibration', * FROM calibration) ORDER BY key";
    static const char count[] = "SELECT (SELECT count(*) FROM assumptions) + (SELECT count(*) FROM calibration)";
#define PARAM(t, m)                                                                                                    \
    {                                                                                                                  \
        .name = #m, .type = (t), .offset = offsetof(struct param, m)                                                   \
    }
    static const struct column columns[] = {PARAM(COL_TEXT, key),        PARAM(COL_REAL, value),
                                            PARAM(COL_REAL, min),        PARAM(COL_REAL, max),
                                            PARAM(COL_TEXT, unit),       PARAM(COL_BOOL, overridable),
                                            PARAM(COL_TEXT, kind),       PARAM(COL_TEXT, gpu_class),
                                            PARAM(COL_TEXT, precision),  PARAM(COL_TEXT, workload_class),
                                            PARAM(COL_TEXT, evidence),   PARAM(COL_TEXT, source),
                                            PARAM(COL_TEXT, source_date)};
#undef PARAM
    struct reading r = {
        .conn = c, .catalog = catalog, .columns = columns, .n_columns = sizeof columns / sizeof *columns, .err = err};
    void *items = NULL;
    size_t n = 0;
    if (read_list(&r, count, sql, sizeof(struct param), &items, &n) != 0)
        return -1;
    const struct param *rows = items;
    for (size_t i = 1; i < n; i++)
        if (strcmp(rows[i - 1].key, rows[i].key) == 0)
            return err_set(err, ERR_CORRUPT, "%s is both an assumption and a calibration", rows[i].key);
    catalog->params = (struct param_table){rows, n};
    return 0;
}

static int load_everything(struct conn *c, struct catalog *catalog, struct err *err)
{
    if (conn_int64(c, "SELECT revision FROM catalog_meta WHERE id = 1", &catalog->revision, err) != 0)
        return -1;
    for (size_t i = 0; i < TABLE_COUNT; i++)
        if (i != TABLE_ASSUMPTIONS && i != TABLE_CALIBRATION && load_table(c, catalog, &db_tables[i], err) != 0)
            return -1;
    return load_params(c, catalog, err);
}

int catalog_load(struct conn *c, struct catalog **ret, struct err *err)
{
    struct arena *arena = arena_new(CATALOG_BYTES_MAX);
    struct catalog *catalog = arena ? arena_alloc(arena, sizeof *catalog) : NULL;
    if (!catalog) {
        arena_free(arena);
        return err_set(err, ERR_NOMEM, "catalog");
    }
    catalog->arena = arena;
    int rc = conn_run(c, "BEGIN", err);
    if (rc == 0)
        rc = load_everything(c, catalog, err);
    conn_rollback(c); /* a read: nothing to keep */
    if (rc == 0)
        rc = catalog_index(catalog, err);
    if (rc != 0) {
        arena_free(arena);
        return -1;
    }
    *ret = catalog;
    return 0;
}
