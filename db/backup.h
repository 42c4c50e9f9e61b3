/* backup.h — a copy of the database that was proven readable before it is called a backup. */
#ifndef SUANPAN_DB_BACKUP_H
#define SUANPAN_DB_BACKUP_H

#include "db/conn.h"

/* ERR_CONFLICT when `to_path` exists. The copy appears under its name only when it is whole and checked. */
int backup_write(struct conn *from, const char *to_path, struct err *err);

/* integrity_check and foreign_key_check in full; ERR_CORRUPT with the first finding. */
int backup_check_integrity(struct conn *c, struct err *err);
/* The cheap one for the start; reads every page but no index against its table. */
int backup_quick_check(struct conn *c, struct err *err);

#endif
