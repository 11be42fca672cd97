-- The routers that are followed. One that was added after the scan had passed its beginning is read up to the cursor first:
-- late_scanned is how far that has come, and NULL once it is level with the cursor.
CREATE TABLE routers (
  chain_id bigint NOT NULL,
  address text NOT NULL,
  late_scanned bigint,
  PRIMARY KEY (chain_id, address)
);
