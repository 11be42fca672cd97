CREATE TABLE subscriptions (
  id uuid PRIMARY KEY,
  merchant_id uuid NOT NULL,
  status text NOT NULL CHECK (status IN ('active', 'past_due', 'cancelled', 'expired')),
  external_ref text,
  description text,
  metadata jsonb NOT NULL,
  brl_centavos bigint NOT NULL CHECK (brl_centavos > 0),
  timezone text NOT NULL,
  start_at timestamptz(3) NOT NULL,
  -- The schedule as it is reckoned from its latest change on; all null when the merchant alone decides when to charge.
  interval text CHECK (interval IN ('day', 'week', 'month', 'year')),
  interval_count integer CHECK (interval_count > 0),
  schedule_first_index integer,
  schedule_first_at timestamptz(3),
  schedule_anchor text,
  schedule_offset integer,
  order_expires_in_s integer NOT NULL CHECK (order_expires_in_s > 0),
  max_periods integer CHECK (max_periods > 0),
  expires_at timestamptz(3),
  charges_done integer NOT NULL CHECK (charges_done >= 0),
  period_index integer NOT NULL,
  last_paid_index integer NOT NULL,
  -- When the scheduler next has something to do here; null when only a payment or the merchant can move it.
  wake_at timestamptz(3),
  -- A scheduler has it in hand until then, by the database's clock; any commit lets go of it.
  claimed_until timestamptz,
  created_at timestamptz(3) NOT NULL,
  cancelled_at timestamptz(3),
  expired_at timestamptz(3),
  version integer NOT NULL DEFAULT 1,
  CHECK (num_nulls(interval, interval_count, schedule_first_index, schedule_first_at, schedule_anchor, schedule_offset) IN (0, 6)),
  CHECK (wake_at IS NULL OR status IN ('active', 'past_due'))
);
-- Ids are UUIDv7, so the id itself is the keyset: newest first within a merchant.
CREATE INDEX subscriptions_merchant ON subscriptions (merchant_id, id DESC);
CREATE INDEX subscriptions_merchant_status ON subscriptions (merchant_id, status, id DESC);
CREATE INDEX subscriptions_merchant_external_ref ON subscriptions (merchant_id, external_ref, id DESC) WHERE external_ref IS NOT NULL;
CREATE INDEX subscriptions_due ON subscriptions (wake_at) WHERE wake_at IS NOT NULL;

-- The primary key is the promise that no period is charged twice, whoever issues it and however often.
CREATE TABLE charges (
  subscription_id uuid NOT NULL REFERENCES subscriptions (id),
  period_index integer NOT NULL CHECK (period_index >= 0),
  status text NOT NULL CHECK (status IN ('open', 'paid', 'skipped')),
  brl_centavos bigint NOT NULL CHECK (brl_centavos > 0),
  issued_at timestamptz(3),
  paid_at timestamptz(3),
  PRIMARY KEY (subscription_id, period_index),
  CHECK ((status = 'paid') = (paid_at IS NOT NULL))
);
CREATE INDEX charges_open ON charges (subscription_id) WHERE status = 'open';

CREATE TABLE attempts (
  order_id uuid PRIMARY KEY,
  subscription_id uuid NOT NULL,
  period_index integer NOT NULL,
  memo text NOT NULL,
  status text NOT NULL CHECK (status IN ('open', 'paid', 'duplicate', 'expired', 'cancelled')),
  issued_at timestamptz(3) NOT NULL,
  order_body text,
  FOREIGN KEY (subscription_id, period_index) REFERENCES charges (subscription_id, period_index)
);
CREATE INDEX attempts_subscription_id_period_index_idx ON attempts (subscription_id, period_index);
-- A payer never faces two orders of one period, and one period is never counted twice.
CREATE UNIQUE INDEX attempts_one_open ON attempts (subscription_id, period_index) WHERE status = 'open';
CREATE UNIQUE INDEX attempts_one_paid ON attempts (subscription_id, period_index) WHERE status = 'paid';

CREATE TABLE merchants (
  id uuid PRIMARY KEY,
  version integer NOT NULL,
  display_name text NOT NULL,
  payout_address text
);

CREATE TABLE idempotency_keys (
  merchant_id uuid NOT NULL,
  route text NOT NULL,
  key text NOT NULL,
  body_hash text NOT NULL,
  status integer NOT NULL,
  body text,
  order_id uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (merchant_id, route, key),
  CHECK (num_nulls(body, order_id) = 1)
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
