-- Something else than the payment token, which a transaction that was explained sent to an order's deposit address; and the latest recovery of it. No part of an order or of the ledger.
CREATE TABLE foreign_tokens (
  id uuid PRIMARY KEY,
  order_id uuid NOT NULL,
  merchant_id uuid NOT NULL,
  chain_id integer NOT NULL,
  -- The zero address for the network's own coin.
  token_address text NOT NULL,
  units numeric(78, 0) NOT NULL,
  tx_hash text NOT NULL,
  sent_at timestamptz(3) NOT NULL,
  found_at timestamptz(3) NOT NULL,
  version integer NOT NULL DEFAULT 0,
  recovery_id uuid,
  requested_by text,
  requested_at timestamptz(3),
  watch_from bigint,
  generation uuid,
  revision integer NOT NULL DEFAULT 0,
  known_at timestamptz(3),
  asked_at timestamptz(3),
  failure_code text,
  recovered_units numeric(78, 0),
  recovery_tx_hash text,
  block_number bigint,
  block_time timestamptz(3),
  handled_at timestamptz(3),
  handled_by text,
  handled_note text,
  handled_facts text,
  UNIQUE (order_id, token_address)
);
CREATE INDEX foreign_tokens_attention ON foreign_tokens (merchant_id, id);
-- Recoveries of which the listener may have to be asked again.
CREATE INDEX foreign_tokens_open ON foreign_tokens (chain_id, known_at NULLS FIRST) WHERE recovery_id IS NOT NULL AND block_time IS NULL AND failure_code IS NULL;
