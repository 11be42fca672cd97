-- A change of the owners waits, and can be undone, before it is in force; an operator can stop it.
ALTER TABLE merchants
  ADD COLUMN owner_changes jsonb,
  ADD COLUMN owner_changes_activate_at timestamptz(3),
  ADD COLUMN payout_held_until timestamptz(3),
  ADD COLUMN frozen_at timestamptz(3);
CREATE INDEX merchants_owner_changes_activate_at ON merchants (owner_changes_activate_at) WHERE owner_changes_activate_at IS NOT NULL;
