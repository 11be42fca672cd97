/** SQL: which server this is, and which of its histories. A fail-over or a restore to a point in time begins another timeline. */
export const SERVER_HISTORY = `(SELECT system_identifier || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) FROM pg_control_system())`
