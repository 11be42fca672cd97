-- The signature with the latest end, which is submitted: when it came, how often it could not be submitted, and when that is tried again.
ALTER TABLE refund_watches ADD COLUMN signature text, ADD COLUMN signed_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN failures integer NOT NULL DEFAULT 0, ADD COLUMN retry_at timestamptz;
CREATE INDEX refund_watches_signed ON refund_watches (chain_id, signed_at) WHERE signature IS NOT NULL AND ended IS NULL AND NOT is_final;
-- Every row is of a kind that was allowed before.
ALTER TABLE relays DROP CONSTRAINT relays_kind_check, ADD CONSTRAINT relays_kind_check CHECK (kind IN ('sweep', 'authorization', 'refund')) NOT VALID;
