-- A transfer to a deposit address is a payment of its own, judged on what the payer sent; a sweep only moves it on to the merchant. Until now
-- the sweep was the payment, stood for the transfers in `replaces`, and every amount was the merchant's share.

ALTER TABLE orders RENAME COLUMN received_units TO confirmed_units;
ALTER TABLE orders RENAME COLUMN told_units TO notified_units;
ALTER TABLE orders ADD COLUMN tolerance_units bigint;
-- An order that fell short of its exact amount and was closed stays so.
UPDATE orders SET tolerance_units = CASE
  WHEN status = 'expired' AND exception IS DISTINCT FROM 'paid_late' THEN 0 ELSE least(10000, usdc_units / 100) END;
ALTER TABLE orders ALTER COLUMN tolerance_units SET NOT NULL;
ALTER TABLE orders ADD CONSTRAINT orders_tolerance_units_check CHECK (tolerance_units BETWEEN 0 AND usdc_units / 100);

-- What the listener reports of an order's deposit address: since which event it is read in every block, and why it cannot be swept.
CREATE TABLE deposit_states (
  order_id uuid PRIMARY KEY,
  synced_sequence integer,
  blocked_reason text,
  blocked_revision integer NOT NULL DEFAULT 0
);

-- The listener reads open addresses again and publishes them as synced, but not those of orders that ended two days ago and more.
INSERT INTO deposit_states (order_id, synced_sequence)
  SELECT orders.id, 0 FROM orders JOIN chain_cursors USING (chain_id)
  WHERE deposit_address IS NOT NULL AND status IN ('pending', 'underpaid', 'confirming') AND expires_at < confirmed_time - interval '2 days';

CREATE TABLE sweeps (
  id text PRIMARY KEY,
  revision integer NOT NULL,
  status text NOT NULL CHECK (status IN ('confirmed', 'orphaned')),
  chain_id integer NOT NULL,
  router_address text NOT NULL,
  token_address text NOT NULL,
  memo text NOT NULL,
  merchant_address text NOT NULL,
  deposit_address text NOT NULL,
  gross_units bigint NOT NULL,
  tx_hash text NOT NULL,
  block_number bigint NOT NULL,
  block_time timestamptz(3) NOT NULL,
  log_index integer NOT NULL
);

ALTER TABLE payments RENAME COLUMN share_units TO gross_units;
ALTER TABLE payments RENAME CONSTRAINT payments_share_units_check TO payments_gross_units_check;
ALTER TABLE payments ADD COLUMN kind text NOT NULL DEFAULT 'router' CHECK (kind IN ('router', 'transfer'));
ALTER TABLE payments ADD COLUMN deposit_address text;
ALTER TABLE payments ADD COLUMN log_index integer NOT NULL DEFAULT 0;
ALTER TABLE payments ALTER COLUMN kind DROP DEFAULT;
ALTER TABLE payments ALTER COLUMN log_index DROP DEFAULT;

-- The greatest gross amount that leaves the share, which makes a round one of it; an exact payment is what was asked for. What the listener
-- reports next replaces it.
UPDATE payments SET gross_units = CASE
    WHEN payments.gross_units = orders.expected_units THEN orders.usdc_units
    ELSE payments.gross_units * 10000 / (10000 - orders.fee_bps) END
  FROM orders WHERE orders.id = payments.order_id;

CREATE TEMPORARY TABLE old_sweeps ON COMMIT DROP AS
  SELECT payments.* FROM payments JOIN orders ON orders.id = payments.order_id
  WHERE payments.replaces <> '{}' OR lower(payments.payer_address) = lower(orders.deposit_address);
CREATE TEMPORARY TABLE old_transfers ON COMMIT DROP AS
  SELECT payments.id, payments.order_id, bool_or(old_sweeps.status = 'confirmed') AS is_swept
  FROM payments JOIN old_sweeps ON old_sweeps.order_id = payments.order_id AND payments.id = ANY (old_sweeps.replaces)
  GROUP BY payments.id, payments.order_id;

INSERT INTO sweeps (id, revision, status, chain_id, router_address, token_address, memo, merchant_address, deposit_address, gross_units,
    tx_hash, block_number, block_time, log_index)
  SELECT old_sweeps.id, old_sweeps.revision, old_sweeps.status, orders.chain_id, orders.router_address, orders.token_address, orders.memo,
    orders.merchant_address, coalesce(orders.deposit_address, old_sweeps.payer_address), old_sweeps.gross_units, old_sweeps.tx_hash,
    old_sweeps.block_number, old_sweeps.block_time, old_sweeps.log_index
  FROM old_sweeps JOIN orders ON orders.id = old_sweeps.order_id WHERE old_sweeps.status <> 'detected';

UPDATE payments SET kind = 'transfer', deposit_address = orders.deposit_address,
    status = CASE WHEN old_transfers.is_swept AND payments.status = 'detected' THEN 'confirmed' ELSE payments.status END
  FROM old_transfers, orders WHERE payments.id = old_transfers.id AND orders.id = payments.order_id;

-- What was swept and is known by no transfer stays a payment: money is never lost by an upgrade. The fee is rounded once a payment, so a few
-- units between the sums are not money.
CREATE TEMPORARY TABLE unexplained ON COMMIT DROP AS
  SELECT newest.id, swept.units - transferred.units AS units
  FROM (SELECT order_id, sum(gross_units) AS units FROM old_sweeps WHERE status = 'confirmed' GROUP BY order_id) AS swept
  JOIN (SELECT payments.order_id, sum(gross_units) FILTER (WHERE status = 'confirmed') AS units, count(*) AS parts
    FROM payments JOIN old_transfers USING (id) GROUP BY payments.order_id) AS transferred USING (order_id)
  JOIN (SELECT DISTINCT ON (order_id) order_id, id FROM old_sweeps WHERE status = 'confirmed' ORDER BY order_id, block_number DESC, id DESC)
    AS newest USING (order_id)
  WHERE swept.units - transferred.units > 2 * transferred.parts;
DELETE FROM payments USING old_sweeps
  WHERE payments.id = old_sweeps.id AND payments.id NOT IN (SELECT id FROM unexplained)
  AND (old_sweeps.status <> 'confirmed' OR old_sweeps.order_id IN (SELECT order_id FROM old_transfers));
UPDATE payments SET kind = 'transfer', deposit_address = orders.deposit_address,
    gross_units = coalesce((SELECT units FROM unexplained WHERE unexplained.id = payments.id), payments.gross_units)
  FROM old_sweeps, orders WHERE payments.id = old_sweeps.id AND orders.id = payments.order_id;
ALTER TABLE payments DROP COLUMN replaces;

ALTER TABLE unmatched_payments RENAME COLUMN share_units TO gross_units;
ALTER TABLE unmatched_payments ADD COLUMN kind text NOT NULL DEFAULT 'router' CHECK (kind IN ('router', 'transfer'));
ALTER TABLE unmatched_payments ADD COLUMN deposit_address text;
ALTER TABLE unmatched_payments ADD COLUMN log_index integer NOT NULL DEFAULT 0;
ALTER TABLE unmatched_payments ALTER COLUMN kind DROP DEFAULT;
ALTER TABLE unmatched_payments ALTER COLUMN log_index DROP DEFAULT;
UPDATE unmatched_payments SET gross_units = gross_units * 10000 / (10000 - fees.fee_bps)
  FROM (SELECT lower(router_address) AS router_address, max(fee_bps) AS fee_bps FROM orders GROUP BY 1) AS fees
  WHERE lower(unmatched_payments.router_address) = fees.router_address;

-- The sums that orders are judged by.
CREATE TEMPORARY TABLE sums ON COMMIT DROP AS
  SELECT order_id, sum(gross_units) AS units FROM payments WHERE status = 'confirmed' GROUP BY order_id;
UPDATE orders SET
    notified_units = CASE
      WHEN notified_units = 0 THEN 0
      WHEN notified_units = confirmed_units THEN gross.units
      ELSE notified_units * 10000 / (10000 - fee_bps) END,
    confirmed_units = gross.units
  FROM (SELECT orders.id, coalesce(sums.units, 0) AS units FROM orders LEFT JOIN sums ON sums.order_id = orders.id) AS gross
  WHERE orders.id = gross.id AND (confirmed_units > 0 OR notified_units > 0 OR gross.units > 0);

-- `overpaid` and `duplicate` by what they mean now.
CREATE TEMPORARY TABLE completed ON COMMIT DROP AS
  SELECT DISTINCT ON (order_id) order_id, block_number FROM (
    SELECT order_id, block_number,
      sum(gross_units) OVER (PARTITION BY order_id ORDER BY block_time, block_number, log_index, id COLLATE "C") AS total
    FROM payments WHERE status = 'confirmed') AS running
  JOIN orders ON orders.id = running.order_id
  WHERE total >= usdc_units - tolerance_units ORDER BY order_id, total;
UPDATE orders SET exception = CASE
    WHEN superseded_at IS NOT NULL OR coalesce((
      SELECT sum(gross_units) FROM payments
      WHERE payments.order_id = orders.id AND payments.status = 'confirmed' AND payments.block_number > completed.block_number
    ), 0) >= usdc_units - tolerance_units THEN 'duplicate'
    WHEN confirmed_units > usdc_units + tolerance_units THEN 'overpaid' END
  FROM completed WHERE completed.order_id = orders.id AND status = 'paid';
UPDATE orders SET exception = NULL
  WHERE status = 'cancelled' AND exception = 'paid_after_cancel' AND confirmed_units < least(10000, usdc_units - tolerance_units);

-- Orders are found by the transaction of any of their payments, and by their deposit address.
DROP INDEX orders_merchant_tx_hash;
CREATE INDEX payments_tx_hash_idx ON payments (tx_hash);
CREATE INDEX sweeps_memo_idx ON sweeps (memo);
CREATE INDEX sweeps_tx_hash_idx ON sweeps (tx_hash);
CREATE INDEX orders_deposit_address_idx ON orders (deposit_address);
