-- Transfers to deposit addresses as they were found at the confirmed depth: orders hear of each before it is swept.
CREATE TABLE transfers (
  chain_id bigint NOT NULL,
  tx_hash text NOT NULL,
  log_index integer NOT NULL,
  memo text NOT NULL,
  merchant text NOT NULL,
  router text NOT NULL,
  address text NOT NULL,
  payer text NOT NULL,
  units numeric(78, 0) NOT NULL,
  fee numeric(78, 0) NOT NULL,
  block_number bigint NOT NULL,
  block_hash text NOT NULL,
  block_time timestamptz NOT NULL,
  told boolean NOT NULL DEFAULT false,
  PRIMARY KEY (chain_id, tx_hash, log_index)
);
CREATE INDEX transfers_by_memo ON transfers (chain_id, memo);
CREATE INDEX transfers_untold ON transfers (chain_id, block_number) WHERE NOT told;

-- The last confirmed block at which all open deposit addresses were looked at.
CREATE TABLE looks (
  chain_id bigint PRIMARY KEY,
  block_number bigint NOT NULL
);
