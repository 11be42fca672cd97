-- The relayer holds a lease of its own, beside the scan's: it may run as another process.
ALTER TABLE chain_cursor ADD COLUMN relay_epoch bigint NOT NULL DEFAULT 0;

-- Whose budget an order's gas counts against, what it asks for, and since when it is cancelled. NULL for orders of the version before.
ALTER TABLE payables ADD COLUMN merchant_id uuid;
ALTER TABLE payables ADD COLUMN asked_units numeric(78, 0);
ALTER TABLE payables ADD COLUMN cancelled_at timestamptz;

-- Whether a contract judges the signature, and its number among those of its order: of two that come at once, one gets the next number.
ALTER TABLE authorizations ADD COLUMN wallet boolean NOT NULL DEFAULT false;
ALTER TABLE authorizations ADD COLUMN order_attempt integer;
-- Each change of state has a revision and is published by the relayer. What was accepted before is not published.
ALTER TABLE authorizations ADD COLUMN revision integer NOT NULL DEFAULT 0;
ALTER TABLE authorizations ADD COLUMN published integer NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX authorizations_order_attempt ON authorizations (chain_id, order_id, order_attempt);
CREATE INDEX authorizations_unpublished ON authorizations (chain_id) WHERE revision > published;
-- A contract wallet whose transaction reverted is not tried again.
CREATE INDEX authorizations_reverted ON authorizations (chain_id, payer) WHERE wallet AND reason = 'reverted';

ALTER TABLE relays ADD COLUMN wallet boolean NOT NULL DEFAULT false;
-- Whose budget each of order_ids counts against, and what all of it costs in token units: at most while it is open, then what it did cost.
ALTER TABLE relays ADD COLUMN merchants text[] NOT NULL DEFAULT '{}';
ALTER TABLE relays ADD COLUMN cost_units numeric(78, 0) NOT NULL DEFAULT 0;
-- The highest price at which it is worth its cost.
ALTER TABLE relays ADD COLUMN worth_price numeric(78, 0);
-- Where in raws and hashes the transactions begin that do nothing, and since when it waits to be mined.
ALTER TABLE relays ADD COLUMN noop_from integer;
ALTER TABLE relays ADD COLUMN open_since timestamptz NOT NULL DEFAULT now();
CREATE INDEX relays_by_day ON relays (chain_id, created_at);
CREATE INDEX relays_by_order ON relays USING gin (order_ids);
