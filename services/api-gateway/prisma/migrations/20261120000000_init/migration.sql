CREATE TABLE merchants (
  id uuid PRIMARY KEY,
  -- `sub` of the identity provider's tokens: one merchant per user.
  user_id text NOT NULL,
  version integer NOT NULL,
  display_name text NOT NULL,
  webhook_url text,
  payout_address text,
  sealed_webhook_secret text NOT NULL,
  sealed_pending_secret text,
  pending_activates_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  CHECK ((sealed_pending_secret IS NULL) = (pending_activates_at IS NULL))
);
CREATE UNIQUE INDEX merchants_user_id_key ON merchants (user_id);

CREATE TABLE api_keys (
  hash bytea PRIMARY KEY CHECK (length(hash) = 32),
  merchant_id uuid NOT NULL REFERENCES merchants (id),
  created_at timestamptz(3) NOT NULL,
  revoked_at timestamptz(3)
);
CREATE UNIQUE INDEX api_keys_active ON api_keys (merchant_id) WHERE revoked_at IS NULL;

CREATE TABLE audit_log (
  id uuid PRIMARY KEY,
  merchant_id uuid NOT NULL,
  user_id text NOT NULL,
  action text NOT NULL,
  changed text[] NOT NULL,
  request_id text NOT NULL,
  at timestamptz(3) NOT NULL
);
CREATE INDEX audit_log_merchant_id_at_idx ON audit_log (merchant_id, at);

-- Unlogged: written often, worth nothing after a minute, and empty after a crash is a fair start.
CREATE UNLOGGED TABLE rate_windows (
  bucket text PRIMARY KEY,
  number bigint NOT NULL,
  used integer NOT NULL,
  granted integer NOT NULL
);

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
