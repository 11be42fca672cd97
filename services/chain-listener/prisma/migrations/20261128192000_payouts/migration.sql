-- Payout addresses of merchants, past and present: a plain transfer to one is read as one to a deposit address is. Lower-case.
CREATE TABLE payouts (
  chain_id bigint NOT NULL,
  address text NOT NULL,
  watch_from bigint NOT NULL,
  -- The first block that is not read for it any more: so much came that it is no merchant's own.
  watch_until bigint,
  PRIMARY KEY (chain_id, address)
);
