-- What happened is identified by block hash and log index. Rows of before have neither hash nor generation until they are reported anew: what is reported at
-- their place is taken for them.
ALTER TABLE payments ADD COLUMN block_hash text, ADD COLUMN generation uuid, ADD COLUMN version integer NOT NULL DEFAULT 0, DROP COLUMN revision;
ALTER TABLE unmatched_payments ADD COLUMN block_hash text, ADD COLUMN generation uuid, ADD COLUMN version integer NOT NULL DEFAULT 0, DROP COLUMN revision;
ALTER TABLE sweeps ADD COLUMN block_hash text, ADD COLUMN generation uuid, ADD COLUMN version integer NOT NULL DEFAULT 0, DROP COLUMN revision;

-- What an order's payments come to, so that one more costs the same however many there are.
ALTER TABLE orders
  ADD COLUMN seen_units bigint NOT NULL DEFAULT 0,
  ADD COLUMN transfer_units bigint NOT NULL DEFAULT 0,
  ADD COLUMN completed_units bigint NOT NULL DEFAULT 0,
  ADD COLUMN completing_block bigint,
  ADD COLUMN completing_index integer,
  ADD COLUMN completing_time timestamptz(3),
  ADD COLUMN completing_tx_hash text,
  ADD COLUMN last_block bigint,
  ADD COLUMN last_index integer,
  ADD COLUMN last_tx_hash text;

CREATE TEMPORARY TABLE running ON COMMIT DROP AS
  SELECT payments.*, usdc_units - tolerance_units AS required,
    sum(payments.gross_units) OVER (PARTITION BY order_id ORDER BY block_number, log_index, payments.id COLLATE "C") AS total
  FROM payments JOIN orders ON orders.id = payments.order_id WHERE payments.status = 'confirmed';
CREATE TEMPORARY TABLE completing ON COMMIT DROP AS
  SELECT DISTINCT ON (order_id) * FROM running WHERE total >= required ORDER BY order_id, total, block_number, log_index;
CREATE TEMPORARY TABLE latest ON COMMIT DROP AS
  SELECT DISTINCT ON (order_id) * FROM running ORDER BY order_id, block_number DESC, log_index DESC, id COLLATE "C" DESC;

UPDATE orders SET seen_units = sums.seen, transfer_units = sums.transferred
  FROM (SELECT order_id, coalesce(sum(gross_units) FILTER (WHERE status <> 'orphaned'), 0)::bigint AS seen,
      coalesce(sum(gross_units) FILTER (WHERE status = 'confirmed' AND kind = 'transfer'), 0)::bigint AS transferred
    FROM payments GROUP BY order_id) AS sums
  WHERE sums.order_id = orders.id;
UPDATE orders SET last_block = latest.block_number, last_index = latest.log_index, last_tx_hash = latest.tx_hash
  FROM latest WHERE latest.order_id = orders.id;
UPDATE orders SET completing_block = completing.block_number, completing_index = completing.log_index, completing_time = completing.block_time,
    completing_tx_hash = completing.tx_hash,
    completed_units = (SELECT max(total) FROM running WHERE running.order_id = orders.id AND running.block_number = completing.block_number)
  FROM completing WHERE completing.order_id = orders.id;

-- How far the confirmed chain is known: by the present generation of the listener's history, and its contiguous blocks.
ALTER TABLE chain_cursors
  DROP COLUMN watermark,
  DROP COLUMN confirmed_time;
ALTER TABLE chain_cursors
  ADD COLUMN generation uuid,
  ADD COLUMN since bigint,
  ADD COLUMN advanced int8multirange NOT NULL DEFAULT '{}',
  ADD COLUMN watermark bigint,
  ADD COLUMN confirmed_time timestamptz(3),
  -- Orders that no one has to pay any more are sent to the listener again in the order of their ids; null when all of them are.
  ADD COLUMN resent_to uuid,
  ADD COLUMN version integer NOT NULL DEFAULT 1;
DROP TABLE payment_sequences;
DROP TABLE chain_advances;
DROP TABLE parked_events;
CREATE TABLE chain_advances (
  chain_id integer NOT NULL,
  generation uuid NOT NULL,
  to_block bigint NOT NULL,
  confirmed_time timestamptz(3) NOT NULL,
  PRIMARY KEY (chain_id, generation, to_block)
);
-- Under which leases the listener's history was written, and how much of each it knows itself.
CREATE TABLE chain_leases (
  chain_id integer NOT NULL,
  generation uuid NOT NULL,
  lease uuid NOT NULL,
  seen_version integer NOT NULL,
  ended_version integer,
  PRIMARY KEY (chain_id, generation, lease)
);
CREATE TABLE gone_blocks (
  chain_id integer NOT NULL,
  block_hash text NOT NULL,
  generation uuid NOT NULL,
  version integer NOT NULL,
  gone_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, block_hash)
);
-- Orders that an event in the dead letters may have paid: they do not expire until it is handled.
CREATE TABLE parked_memos (
  event_id uuid NOT NULL,
  memo text NOT NULL,
  PRIMARY KEY (memo, event_id)
);

-- In which generation an order's payments are read without a gap, and when the listener was last asked to.
ALTER TABLE deposit_states DROP COLUMN synced_sequence,
  ADD COLUMN watched_generation uuid,
  ADD COLUMN watched_version integer NOT NULL DEFAULT 0,
  ADD COLUMN watched_through bigint,
  ADD COLUMN asked_generation uuid,
  ADD COLUMN asked_at timestamptz;
ALTER TABLE orders ADD COLUMN watch_from bigint NOT NULL DEFAULT 0, ADD COLUMN merchant_is_contract boolean NOT NULL DEFAULT false;
