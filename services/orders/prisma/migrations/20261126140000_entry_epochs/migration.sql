-- In which epoch a merchant's entries were numbered, from `first` on: one of a server's lives, until it starts again or is put back. Those of before are of one.
CREATE TABLE entry_epochs (
  merchant_id uuid NOT NULL,
  first bigint NOT NULL,
  epoch text NOT NULL,
  PRIMARY KEY (merchant_id, first)
);
INSERT INTO entry_epochs (merchant_id, first, epoch) SELECT merchant_id, 1, left(md5(gen_random_uuid()::text), 16) FROM ledgers WHERE sequence > 0;

-- Changes whenever numbers may have been given that this database does not know: it is on another server or history of one, was started anew (from a copy of its
-- folder, perhaps), or the table of counters is another than it was. As the dispatcher names the epochs of events.
CREATE FUNCTION ledger_epoch() RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT left(md5(concat_ws('/', system_identifier, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8), pg_postmaster_start_time(),
    (SELECT oid FROM pg_database WHERE datname = current_database()), pg_relation_filenode('ledgers'))), 16)
  FROM pg_control_system()
$$;

-- In a trigger, so that what replicas of the release before book is of an epoch too.
CREATE FUNCTION begin_epoch() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE present text := ledger_epoch(); BEGIN
  INSERT INTO entry_epochs (merchant_id, first, epoch)
  SELECT merchant_id, min(sequence), present FROM booked
  WHERE present IS DISTINCT FROM (SELECT last.epoch FROM entry_epochs AS last WHERE last.merchant_id = booked.merchant_id ORDER BY last.first DESC LIMIT 1)
  GROUP BY merchant_id
  ON CONFLICT (merchant_id, first) DO UPDATE SET epoch = EXCLUDED.epoch;
  RETURN NULL;
END $$;
CREATE TRIGGER begin_epoch AFTER INSERT ON entries REFERENCING NEW TABLE AS booked FOR EACH STATEMENT EXECUTE FUNCTION begin_epoch();
