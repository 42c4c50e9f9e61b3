/* seed.c — reads NAME.csv and NAME_room.csv files into the table NAME.
 *
 * Rows that carry no sums (GPUs, models, assumptions, ...) belong to the binary and follow it: an upgrade replaces
 * them. Prices are history: an upgrade may add to them, but a row that was ever used in an answer stays as it was.
 */
#include "db/seed.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/sha256.h"
#include "db/seed_csv.h"
#include "db/table.h"

struct load {
    struct conn *conn;
    const struct table *table;
    const char *file;
    bool merge;
    sqlite3_stmt *insert;
    size_t n_header;
    int cell_of[TABLE_COLUMNS_MAX]; /* column -> cell of the row, -1 = not in this file */
};

static int read_header(struct load *l, const char *const *cells, size_t n, struct err *err)
{
    l->n_header = n;
    for (size_t i = 0; i < l->table->n_columns; i++)
        l->cell_of[i] = -1;
    for (size_t k = 0; k < n; k++) {
        size_t i = 0;
        while (i < l->table->n_columns) {
            const struct column *c = &l->table->columns[i];
            if (strcmp(cells[k], c->csv ? c->csv : c->name) == 0)
                break;
            i++;
        }
        if (i == l->table->n_columns)
            return err_set(err, ERR_INVALID, "unknown column '%.40s'", cells[k]);
        if (l->cell_of[i] >= 0)
            return err_set(err, ERR_INVALID, "column '%.40s' twice", cells[k]);
        l->cell_of[i] = (int)k;
    }
    return 0;
}

static int insert_row(struct load *l, const char *const *cells, size_t n, struct err *err)
{
    if (n != l->n_header)
        return err_set(err, ERR_INVALID, "%zu cells under a header of %zu", n, l->n_header);
    sqlite3_reset(l->insert);
    for (size_t i = 0; i < l->table->n_columns; i++) {
        const char *text = l->cell_of[i] < 0 ? "" : cells[l->cell_of[i]];
        if (column_bind_text(l->insert, (int)i + 1, &l->table->columns[i], text, err) != 0)
            return -1;
    }
    return conn_step_done(l->conn, l->insert, err);
}

static int on_row(void *ctx, size_t row, const char *const *cells, size_t n, struct err *err)
{
    struct load *l = ctx;
    int rc = row == 1 ? read_header(l, cells, n, err) : insert_row(l, cells, n, err);
    if (rc != 0 && err)
        snprintf(err->pointer, sizeof err->pointer, "%s:%zu", l->file, row);
    return rc;
}

static bool is_key(const struct table *t, const char *column)
{
    size_t n = strlen(column);
    for (const char *p = strstr(t->key, column); p; p = strstr(p + 1, column))
        if ((p == t->key || p[-1] == ' ') && (p[n] == ',' || p[n] == '\0'))
            return true;
    return false;
}

/* Only names from table.c go into the text; values are bound. */
static void write_insert(struct buf *sql, const struct table *t, bool merge)
{
    buf_addf(sql, "INSERT INTO %s (", t->name);
    for (size_t i = 0; i < t->n_columns; i++)
        buf_addf(sql, "%s%s", i ? ", " : "", t->columns[i].name);
    buf_adds(sql, ") VALUES (");
    for (size_t i = 0; i < t->n_columns; i++)
        buf_adds(sql, i ? ", ?" : "?");
    buf_adds(sql, ")");
    if (merge && t->id == TABLE_PRICES)
        buf_adds(sql, " ON CONFLICT DO NOTHING");
    else if (merge) {
        const char *sep = "";
        buf_addf(sql, " ON CONFLICT (%s) DO UPDATE SET ", t->key);
        for (size_t i = 0; i < t->n_columns; i++) {
            if (is_key(t, t->columns[i].name))
                continue;
            buf_addf(sql, "%s%s = excluded.%s", sep, t->columns[i].name, t->columns[i].name);
            sep = ", ";
        }
    }
}

static int load_file(struct conn *c, const struct table *t, const struct embed_file *file, bool merge, struct err *err)
{
    struct load l = {.conn = c, .table = t, .file = file->name, .merge = merge};
    struct buf sql;
    buf_init(&sql, 8192);
    write_insert(&sql, t, merge);
    int rc = buf_failed(&sql) ? err_set(err, ERR_NOMEM, "statement text") : conn_prepare(c, sql.data, &l.insert, err);
    if (rc == 0)
        rc = seed_csv_walk(file->data, file->size, on_row, &l, err);
    if (rc != 0 && err && err->pointer[0] == '\0')
        snprintf(err->pointer, sizeof err->pointer, "%s", file->name);
    sqlite3_finalize(l.insert);
    buf_done(&sql);
    return rc;
}

static int load_all(struct conn *c, const struct embed_table *seed, bool merge, struct err *err)
{
    for (size_t i = 0; i < seed->n; i++)
        if (!table_of_seed(seed->files[i].name))
            return err_at(err, ERR_INVALID, seed->files[i].name, "no table takes this file");
    for (size_t t = 0; t < TABLE_COUNT; t++)
        for (size_t i = 0; i < seed->n; i++)
            if (table_of_seed(seed->files[i].name) == &db_tables[t] &&
                load_file(c, &db_tables[t], &seed->files[i], merge, err) != 0)
                return -1;
    return 0;
}

/* Ends each price where its successor begins, so that a seed file needs to state beginnings only. */
static int close_intervals(struct conn *c, struct err *err)
{
    static const char sql[] =
        "UPDATE prices SET effective_to = next_from FROM ("
        "  SELECT id AS this_id, lead(effective_from) OVER (PARTITION BY subject, ifnull(sku_id, ''), subject_id,"
        "    ifnull(provider_id, ''), mode, unit, term_months, user_class ORDER BY effective_from) AS next_from"
        "  FROM prices) "
        "WHERE id = this_id AND next_from IS NOT NULL AND (effective_to IS NULL OR effective_to > next_from)";
    return conn_run(c, sql, err);
}

static void hash_seed(const struct embed_table *seed, char out[SHA256_HEX])
{
    struct sha256 hash;
    unsigned char bytes[SHA256_BYTES];
    sha256_init(&hash);
    for (size_t i = 0; i < seed->n; i++) {
        sha256_add(&hash, seed->files[i].name, strlen(seed->files[i].name) + 1);
        sha256_add(&hash, seed->files[i].data, seed->files[i].size);
    }
    sha256_end(&hash, bytes);
    sha256_hex(bytes, sizeof bytes, out);
}

static int stored_seed(struct conn *c, char out[SHA256_HEX], bool *ret_empty, struct err *err)
{
    _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
    if (conn_prepare(c, "SELECT seed_sha256, revision FROM catalog_meta WHERE id = 1", &stmt, err) != 0)
        return -1;
    int rc = sqlite3_step(stmt);
    if (rc != SQLITE_ROW)
        return rc == SQLITE_DONE ? err_set(err, ERR_CORRUPT, "catalog_meta has no row") : conn_fail(c, rc, "read", err);
    snprintf(out, SHA256_HEX, "%s", (const char *)sqlite3_column_text(stmt, 0));
    *ret_empty = sqlite3_column_int64(stmt, 1) == 0;
    return 0;
}

static int remember(struct conn *c, const char *hex, struct err *err)
{
    _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
    if (conn_prepare(c, "UPDATE catalog_meta SET seed_sha256 = ?, revision = revision + 1 WHERE id = 1", &stmt, err) !=
        0)
        return -1;
    sqlite3_bind_text(stmt, 1, hex, -1, SQLITE_STATIC);
    return conn_step_done(c, stmt, err);
}

int seed_apply(struct conn *c, const struct embed_table *seed, struct err *err)
{
    char ours[SHA256_HEX], stored[SHA256_HEX];
    bool empty = false;
    if (err)
        err->pointer[0] = '\0';
    hash_seed(seed, ours);
    if (stored_seed(c, stored, &empty, err) != 0)
        return -1;
    if (strcmp(ours, stored) == 0)
        return 0;
    if (conn_run(c, "BEGIN IMMEDIATE", err) != 0)
        return -1;
    if (load_all(c, seed, !empty, err) != 0 || close_intervals(c, err) != 0 || remember(c, ours, err) != 0 ||
        conn_run(c, "COMMIT", err) != 0) {
        conn_rollback(c);
        return -1;
    }
    return 0;
}
