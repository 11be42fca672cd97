-- Notices that orders had about each payout address; those that are known already are published after the upgrade.
ALTER TABLE payouts ADD COLUMN revision integer NOT NULL DEFAULT 0, ADD COLUMN published_generation uuid, ADD COLUMN published_until bigint, ADD COLUMN published_at timestamptz;
