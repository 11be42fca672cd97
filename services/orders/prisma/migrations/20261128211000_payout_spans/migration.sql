-- In which blocks the listener watches each payout address, lower-case, as it last stated it.
CREATE TABLE payout_spans (
  chain_id integer NOT NULL,
  address text NOT NULL,
  generation uuid NOT NULL,
  revision integer NOT NULL,
  watch_from bigint NOT NULL,
  -- The first block that is not read for it any more.
  watch_until bigint,
  PRIMARY KEY (chain_id, address)
);
