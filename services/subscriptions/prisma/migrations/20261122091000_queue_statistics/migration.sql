-- Every row of a queue is dead soon: dead entries are read by each claim until they are vacuumed, and statistics are as old as the last hour's rows.
ALTER TABLE outbox SET (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_threshold = 1000, autovacuum_analyze_scale_factor = 0.01);
ALTER TABLE inbox SET (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_threshold = 1000, autovacuum_analyze_scale_factor = 0.01);
