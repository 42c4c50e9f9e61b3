/* table.h — the tables as data: which column is which member of which catalog struct.
 *
 * One description drives the seed reader (CSV cell -> bound value), the loader (row -> struct) and the appender
 * (struct -> bound value), so that a new column is one line here, one in a migration and one in a CSV header.
 */
#ifndef SUANPAN_DB_TABLE_H
#define SUANPAN_DB_TABLE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "planner/core/catalog.h"

enum column_type {
    COL_TEXT,
    COL_REAL,
    COL_INT,
    COL_INT64,
    COL_BOOL,     /* stored 0/1; yes/no in a CSV */
    COL_MICROS,   /* stored whole micros; a decimal in a CSV */
    COL_DATE,     /* stored 'YYYY-MM-DD' */
    COL_CURRENCY, /* char[4] */
    COL_ENUM,     /* stored as its wire name */
    COL_REF       /* stored as the target's id; a pointer in the struct */
};

enum table_id {
    TABLE_GPUS,
    TABLE_GPU_ALIASES,
    TABLE_MODELS,
    TABLE_PROVIDERS,
    TABLE_LINKS,
    TABLE_NETWORKS,
    TABLE_STORAGES,
    TABLE_SCHEDULERS,
    TABLE_TAX_CODES,
    TABLE_SKUS,
    TABLE_PRICES,
    TABLE_FX_RATES,
    TABLE_LINES,
    TABLE_PURCHASES,
    TABLE_ASSUMPTIONS,
    TABLE_CALIBRATION,
    TABLE_COUNT
};

/* An enum's wire names; both sides work on the enum's storage (an int's size, checked in table.c). */
struct enum_codec {
    int (*parse)(const char *name, void *ret);
    const char *(*name)(const void *value);
};

#define COLUMN_NO_MEMBER ((size_t)-1) /* stored and shown to auditors, not part of the snapshot */
#define TABLE_COLUMNS_MAX 48

struct column {
    const char *name; /* in SQL */
    const char *csv;  /* header in the seed file; NULL = name */
    enum column_type type;
    size_t offset;        /* of the member, or COLUMN_NO_MEMBER */
    bool required;        /* an empty cell is an error */
    bool nullable;        /* an empty cell is NULL, not the type's zero */
    const char *fallback; /* text that an empty or absent cell stands for; NULL = the type's zero */
    const struct enum_codec *codec;
    enum table_id ref;
};

struct table {
    enum table_id id;
    const char *name; /* in SQL; a seed file is NAME.csv or NAME_anything.csv */
    const char *key;  /* primary key columns, comma separated */
    const char *order_by;
    size_t row_size;     /* of the catalog struct */
    size_t items, count; /* offsets of pointer and count in struct catalog */
    const struct column *columns;
    size_t n_columns;
};

/* In the order in which references allow to insert them. */
extern const struct table db_tables[TABLE_COUNT];

/* The table whose seed file this is ("gpus.csv", "assumptions_core.csv"); NULL when there is none. */
const struct table *table_of_seed(const char *file_name);

/* Binds a CSV cell ("" or NULL = empty). ERR_INVALID says what is wrong with it. */
int column_bind_text(sqlite3_stmt *stmt, int at, const struct column *c, const char *text, struct err *err);
/* Binds the member of a catalog struct. */
int column_bind_member(sqlite3_stmt *stmt, int at, const struct column *c, const void *row, struct err *err);

#endif
