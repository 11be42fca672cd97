-- Payout addresses of merchants, past and present: a plain transfer to one is read as one to a deposit address is. Lower-case.
CREATE TABLE payouts (
  chain_id bigint NOT NULL,
  address text NOT NULL,
  watch_from bigint NOT NULL,
  PRIMARY KEY (chain_id, address)
);
