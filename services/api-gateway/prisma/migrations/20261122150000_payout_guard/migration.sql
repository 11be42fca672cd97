-- A change of the payout address waits, and can be withdrawn, before it is in force.
ALTER TABLE merchants
  ADD COLUMN cleared_payout_address text,
  ADD COLUMN pending_payout jsonb,
  ADD COLUMN pending_payout_activates_at timestamptz(3);
CREATE INDEX merchants_pending_payout_activates_at ON merchants (pending_payout_activates_at) WHERE pending_payout_activates_at IS NOT NULL;
