CREATE TABLE orders (
  id uuid PRIMARY KEY,
  merchant_id uuid NOT NULL,
  merchant_version integer NOT NULL,
  merchant_name text NOT NULL,
  merchant_address text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'confirming', 'underpaid', 'paid', 'expired', 'cancelled')),
  exception text CHECK (exception IN ('overpaid', 'paid_late', 'paid_after_cancel', 'duplicate', 'reorged')),
  subscription_id uuid,
  external_ref text,
  description text,
  metadata jsonb NOT NULL,
  brl_centavos bigint NOT NULL CHECK (brl_centavos > 0),
  usdc_units bigint NOT NULL CHECK (usdc_units = fee_units + expected_units),
  fee_units bigint NOT NULL CHECK (fee_units >= 0),
  expected_units bigint NOT NULL CHECK (expected_units > 0),
  received_units bigint NOT NULL,
  -- The received amount that the merchant was last told is too little; 0 when never.
  told_units bigint NOT NULL,
  rate_micros bigint NOT NULL CHECK (rate_micros > 0),
  rate_source text NOT NULL,
  rate_as_of timestamptz(3) NOT NULL,
  rate_spread_bps integer NOT NULL,
  memo text NOT NULL,
  chain_id integer NOT NULL,
  token_address text NOT NULL,
  router_address text NOT NULL,
  deposit_address text,
  tx_hash text,
  expires_at timestamptz(3) NOT NULL,
  paid_at timestamptz(3),
  cancelled_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  version integer NOT NULL DEFAULT 1
);
-- Ids are UUIDv7, so the id itself is the keyset: newest first within a merchant.
CREATE UNIQUE INDEX orders_memo_key ON orders (memo);
CREATE INDEX orders_merchant ON orders (merchant_id, id DESC);
CREATE INDEX orders_merchant_status ON orders (merchant_id, status, id DESC);
CREATE INDEX orders_merchant_exception ON orders (merchant_id, exception, id DESC) WHERE exception IS NOT NULL;
CREATE INDEX orders_merchant_external_ref ON orders (merchant_id, external_ref, id DESC) WHERE external_ref IS NOT NULL;
CREATE INDEX orders_merchant_subscription ON orders (merchant_id, subscription_id, id DESC) WHERE subscription_id IS NOT NULL;
CREATE INDEX orders_merchant_tx_hash ON orders (merchant_id, tx_hash) WHERE tx_hash IS NOT NULL;
CREATE INDEX orders_expiring ON orders (chain_id, expires_at) WHERE status IN ('pending', 'underpaid', 'confirming');

CREATE TABLE payments (
  id text PRIMARY KEY,
  order_id uuid NOT NULL REFERENCES orders (id),
  revision integer NOT NULL,
  status text NOT NULL CHECK (status IN ('detected', 'confirmed', 'orphaned')),
  share_units bigint NOT NULL CHECK (share_units > 0),
  payer_address text NOT NULL,
  tx_hash text NOT NULL,
  block_number bigint NOT NULL,
  block_time timestamptz(3) NOT NULL
);
CREATE INDEX payments_order_id_idx ON payments (order_id);

CREATE TABLE unmatched_payments (
  id text PRIMARY KEY,
  reason text NOT NULL,
  revision integer NOT NULL,
  status text NOT NULL CHECK (status IN ('detected', 'confirmed', 'orphaned')),
  chain_id integer NOT NULL,
  router_address text NOT NULL,
  token_address text NOT NULL,
  memo text NOT NULL,
  merchant_address text NOT NULL,
  payer_address text NOT NULL,
  share_units bigint NOT NULL,
  tx_hash text NOT NULL,
  block_number bigint NOT NULL,
  block_time timestamptz(3) NOT NULL
);
CREATE INDEX unmatched_payments_memo_idx ON unmatched_payments (memo);

CREATE TABLE merchants (
  id uuid PRIMARY KEY,
  version integer NOT NULL,
  display_name text NOT NULL,
  payout_address text
);

CREATE TABLE chain_cursors (
  chain_id integer PRIMARY KEY,
  watermark integer NOT NULL DEFAULT 0,
  confirmed_time timestamptz(3),
  head_block bigint NOT NULL DEFAULT 0
);
CREATE TABLE payment_sequences (
  chain_id integer NOT NULL,
  sequence integer NOT NULL,
  PRIMARY KEY (chain_id, sequence)
);
CREATE TABLE chain_advances (
  chain_id integer NOT NULL,
  sequence integer NOT NULL,
  confirmed_time timestamptz(3) NOT NULL,
  PRIMARY KEY (chain_id, sequence)
);

CREATE TABLE idempotency_keys (
  merchant_id uuid NOT NULL,
  route text NOT NULL,
  key text NOT NULL,
  body_hash text NOT NULL,
  status integer NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (merchant_id, route, key)
);
CREATE INDEX idempotency_keys_created_at_idx ON idempotency_keys (created_at);

CREATE TABLE outbox (
  id uuid PRIMARY KEY,
  type text NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  claimed_until timestamptz,
  sent_at timestamptz
);
CREATE INDEX outbox_unsent ON outbox (created_at) WHERE sent_at IS NULL;

CREATE TABLE inbox (
  event_id uuid PRIMARY KEY,
  received_at timestamptz NOT NULL DEFAULT now()
);
