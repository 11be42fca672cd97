-- What payers may pay, by memo and merchant, and what its deposit address holds. Held money is read from the chain again and again, never counted here.
CREATE TABLE payables (
  chain_id bigint NOT NULL,
  order_id uuid NOT NULL,
  memo text NOT NULL,
  merchant text NOT NULL,
  router text NOT NULL,
  -- NULL when the order has no deposit address; authorisations work all the same.
  address text,
  asked_units numeric(78, 0) NOT NULL,
  swept_units numeric(78, 0) NOT NULL DEFAULT 0,
  held_units numeric(78, 0) NOT NULL DEFAULT 0,
  held_since timestamptz,
  -- Sweeping it was tried so many times in vain, and is tried again then.
  failures integer NOT NULL DEFAULT 0,
  retry_at timestamptz,
  expires_at timestamptz NOT NULL,
  looked_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, order_id)
);
-- Looked at in every block while an order can still be paid, and rarely afterwards.
CREATE INDEX payables_by_expiry ON payables (chain_id, expires_at) WHERE address IS NOT NULL;
CREATE INDEX payables_by_look ON payables (chain_id, looked_at) WHERE address IS NOT NULL;
CREATE INDEX payables_held ON payables (chain_id, held_since) WHERE held_units > 0;

-- A payer's signature that whoever submits it can redirect nowhere: the relayer submits it once.
CREATE TABLE authorizations (
  chain_id bigint NOT NULL,
  memo text NOT NULL,
  payer text NOT NULL,
  order_id uuid NOT NULL,
  merchant text NOT NULL,
  router text NOT NULL,
  units numeric(78, 0) NOT NULL,
  valid_after bigint NOT NULL,
  valid_before bigint NOT NULL,
  signature text NOT NULL,
  state text NOT NULL CHECK (state IN ('accepted', 'submitted', 'paid', 'failed')),
  tx_hash text,
  reason text,
  failures integer NOT NULL DEFAULT 0,
  retry_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, memo, payer)
);
CREATE INDEX authorizations_open ON authorizations (chain_id, created_at) WHERE state IN ('accepted', 'submitted');

-- The relayer's nonce line. A transaction is written here, signed, before anybody hears of it, so that whoever takes over sends the same bytes.
-- Each price it was offered at is one more of `raws` and `hashes`; only one of them can ever be mined.
CREATE TABLE relays (
  chain_id bigint NOT NULL,
  sender text NOT NULL,
  nonce bigint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('sweep', 'authorization')),
  order_ids uuid[] NOT NULL,
  payer text,
  target text NOT NULL,
  data text NOT NULL,
  gas_limit bigint NOT NULL,
  max_price numeric(78, 0) NOT NULL,
  tip numeric(78, 0) NOT NULL,
  raws text[] NOT NULL,
  hashes text[] NOT NULL,
  priced_at timestamptz NOT NULL DEFAULT now(),
  outcome text CHECK (outcome IN ('done', 'reverted', 'replaced')),
  mined_hash text,
  gas_used bigint,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, sender, nonce)
);
CREATE INDEX relays_open ON relays (chain_id, sender, nonce) WHERE outcome IS NULL;
