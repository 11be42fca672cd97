-- Files of the ledger that are made in the background: by the replica that holds the lease, of the entries up to `through`. Replicas share no disk, so the file
-- itself is here. A part belongs to the lease under which it was written: what a replica that lost it has written is no part of the file.
CREATE TABLE exports (
  id uuid PRIMARY KEY,
  merchant_id uuid NOT NULL,
  status text NOT NULL CHECK (status IN ('waiting', 'running', 'ready', 'failed')),
  format text NOT NULL,
  form text NOT NULL,
  at_gte timestamptz(3),
  at_lt timestamptz(3),
  kind text,
  order_id uuid,
  through bigint NOT NULL,
  requested_by text,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  lease uuid,
  leased_until timestamptz(3),
  attempts smallint NOT NULL DEFAULT 0,
  rows bigint NOT NULL DEFAULT 0,
  rows_total bigint,
  size bigint,
  ready_at timestamptz(3),
  failure text,
  CHECK ((status = 'ready') = (ready_at IS NOT NULL) AND (status = 'ready') = (size IS NOT NULL) AND (status = 'failed') = (failure IS NOT NULL))
);
CREATE INDEX exports_merchant_id_idx ON exports (merchant_id, created_at, id);
CREATE INDEX exports_expires_at_idx ON exports (expires_at);
CREATE INDEX exports_open_idx ON exports (created_at, id) WHERE status IN ('waiting', 'running');
CREATE TABLE export_chunks (
  export_id uuid NOT NULL REFERENCES exports ON DELETE CASCADE,
  lease uuid NOT NULL,
  number int NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (export_id, lease, number)
);
-- They are compressed already.
ALTER TABLE export_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;
