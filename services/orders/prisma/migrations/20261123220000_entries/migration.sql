-- The ledger: one row per movement of money, written in the statement that causes it and never changed. A movement that did not happen after all is a row
-- with the opposite amount, which names the row that it takes back.
CREATE TABLE entries (
  merchant_id uuid NOT NULL,
  sequence bigint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('payment', 'unmatched', 'direct', 'fee', 'settled', 'accepted', 'attached', 'returned')),
  units bigint NOT NULL,
  -- At the order's quote; null where there is no order.
  brl_centavos bigint,
  order_id uuid,
  reverses bigint,
  -- When it counts: the time of its block, or of its booking when the month of that block was closed by then.
  at timestamptz(3) NOT NULL,
  chain_id integer NOT NULL,
  tx_hash text NOT NULL,
  log_index integer NOT NULL,
  block_number bigint NOT NULL,
  block_time timestamptz(3) NOT NULL,
  payer_address text,
  -- Where it went: the deposit address of a transfer, the payout address of what settled or came there directly.
  address text,
  reason text,
  booked_at timestamptz(3) NOT NULL,
  PRIMARY KEY (merchant_id, sequence)
);
CREATE INDEX entries_tx_hash_idx ON entries (tx_hash);
CREATE INDEX entries_at ON entries (merchant_id, at, sequence);
CREATE INDEX entries_order ON entries (merchant_id, order_id, sequence);
CREATE INDEX entries_kind ON entries (merchant_id, kind, sequence);
CREATE FUNCTION entries_stand() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'entries are never changed: book one that takes back the other';
END $$;
CREATE TRIGGER entries_stand BEFORE UPDATE OR DELETE ON entries FOR EACH STATEMENT EXECUTE FUNCTION entries_stand();

-- The last sequence of each merchant, which is how many entries they have.
CREATE TABLE ledgers (merchant_id uuid PRIMARY KEY, sequence bigint NOT NULL);
-- Their sums by quarter of an hour, of which the days of every time zone are made; what was taken back is no movement.
CREATE TABLE entry_sums (
  merchant_id uuid NOT NULL,
  quarter timestamptz(3) NOT NULL,
  kind text NOT NULL,
  movements integer NOT NULL,
  units numeric(38, 0) NOT NULL,
  brl_centavos numeric(38, 0) NOT NULL,
  PRIMARY KEY (merchant_id, quarter, kind)
);
CREATE INDEX entry_sums_quarter_idx ON entry_sums (quarter);
-- Months before this moment are closed.
CREATE TABLE ledger_close (id boolean PRIMARY KEY DEFAULT true CHECK (id), through timestamptz(3) NOT NULL);
INSERT INTO ledger_close (through) VALUES ('-infinity');
-- What each router takes, which never changes.
CREATE TABLE routers (router_address text PRIMARY KEY, fee_bps integer NOT NULL);
INSERT INTO routers SELECT DISTINCT ON (lower(router_address)) lower(router_address), fee_bps FROM orders ORDER BY lower(router_address), id DESC;

CREATE INDEX payout_addresses_lower ON payout_addresses (lower(payout_address));
CREATE INDEX unmatched_payments_tx_hash_idx ON unmatched_payments (tx_hash);

-- Whose payout address it was at that time.
CREATE FUNCTION paid_at(address text, paid timestamptz) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
  SELECT DISTINCT merchant_id FROM payout_addresses AS known WHERE lower(payout_address) = lower(address) AND since <= paid
    AND paid < coalesce((SELECT later.since FROM payout_addresses AS later WHERE later.merchant_id = known.merchant_id
      AND later.merchant_version > known.merchant_version ORDER BY later.merchant_version LIMIT 1), 'infinity')
$$;

-- What the books come to in entries: the only statement of which movements there are. Amounts that are no USDC, or more than there is, are in none.
CREATE VIEW due_entries AS
WITH moved AS NOT MATERIALIZED (
  SELECT orders.merchant_id, 'payment' AS came, paid.kind = 'router' AS settles, orders.fee_bps, orders.rate_micros, orders.id AS order_id, orders.chain_id,
    orders.merchant_address, paid.deposit_address, paid.payer_address, paid.gross_units, paid.tx_hash, paid.log_index, paid.block_number, paid.block_time, NULL AS reason
  FROM payments AS paid JOIN orders ON orders.id = paid.order_id WHERE paid.status = 'confirmed'
  UNION ALL
  SELECT merchant_id, 'unmatched', kind = 'router', coalesce(fee_bps, 0), NULL, NULL, chain_id,
    merchant_address, deposit_address, payer_address, gross_units, tx_hash, log_index, block_number, block_time, reason
  FROM unmatched_payments AS unmatched LEFT JOIN routers ON routers.router_address = lower(unmatched.router_address),
    paid_at(merchant_address, block_time) AS merchant_id
  WHERE status = 'confirmed' AND reason NOT IN ('wrong_token', 'amount_out_of_range')
  UNION ALL
  SELECT coalesce(orders.merchant_id, owner.merchant_id), NULL, true, coalesce(orders.fee_bps, routers.fee_bps, 0), orders.rate_micros, orders.id, swept.chain_id,
    swept.merchant_address, swept.deposit_address, NULL, swept.gross_units, swept.tx_hash, swept.log_index, swept.block_number, swept.block_time, NULL
  FROM sweeps AS swept
    LEFT JOIN orders ON orders.memo = swept.memo AND orders.chain_id = swept.chain_id AND lower(orders.router_address) = lower(swept.router_address)
      AND lower(orders.token_address) = lower(swept.token_address) AND lower(orders.merchant_address) = lower(swept.merchant_address)
    LEFT JOIN routers ON routers.router_address = lower(swept.router_address)
    LEFT JOIN LATERAL paid_at(swept.merchant_address, swept.block_time) AS owner (merchant_id) ON orders.id IS NULL
  WHERE swept.status = 'confirmed' AND coalesce(orders.merchant_id, owner.merchant_id) IS NOT NULL
)
SELECT moved.merchant_id, part.kind, part.units, part.brl_centavos, moved.order_id, moved.chain_id, moved.tx_hash, moved.log_index, moved.block_number,
  moved.block_time, moved.payer_address, part.address, moved.reason
FROM moved
CROSS JOIN LATERAL (SELECT floor(gross_units::numeric * fee_bps / 10000)::bigint AS fee_units) AS fee
CROSS JOIN LATERAL (SELECT round(gross_units::numeric * rate_micros / 10000000000)::bigint AS gross, round(fee_units::numeric * rate_micros / 10000000000)::bigint AS fee) AS brl
CROSS JOIN LATERAL (VALUES
  (came, gross_units, brl.gross, deposit_address),
  (CASE WHEN settles THEN 'fee' END, fee_units, brl.fee, NULL),
  (CASE WHEN settles THEN 'settled' END, gross_units - fee_units, brl.gross - brl.fee, merchant_address)) AS part (kind, units, brl_centavos, address)
WHERE part.kind IS NOT NULL AND part.units > 0;

-- Entries that no other takes back.
CREATE VIEW standing_entries AS
SELECT * FROM entries AS entry WHERE reverses IS NULL
  AND NOT EXISTS (SELECT FROM entries AS reversal WHERE reversal.tx_hash = entry.tx_hash AND reversal.merchant_id = entry.merchant_id AND reversal.reverses = entry.sequence);

-- Appends what the ledger lacks of these transactions, and takes back what is no part of them any more. Called twice it does nothing. Every table has an index
-- by transaction; statistics of one that has just grown would have it read whole.
CREATE FUNCTION book(hashes text[]) RETURNS bigint LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE booked bigint;
BEGIN
  -- A payment and a change of the payout address that decides whose it is may come at once: the later one sees both.
  PERFORM pg_advisory_xact_lock(7210418);
  WITH due AS (SELECT * FROM due_entries WHERE tx_hash = ANY(hashes)),
  standing AS (SELECT * FROM standing_entries WHERE tx_hash = ANY(hashes)),
  lacking AS (
    SELECT NULL::bigint AS reverses, due.* FROM due
    WHERE NOT EXISTS (SELECT FROM standing WHERE (standing.merchant_id, standing.tx_hash, standing.log_index, standing.block_number, standing.kind, standing.units, standing.block_time)
      = (due.merchant_id, due.tx_hash, due.log_index, due.block_number, due.kind, due.units, due.block_time) AND standing.order_id IS NOT DISTINCT FROM due.order_id)
    UNION ALL
    SELECT sequence, merchant_id, kind, -units, -brl_centavos, order_id, chain_id, tx_hash, log_index, block_number, block_time, payer_address, address, reason FROM standing
    WHERE NOT EXISTS (SELECT FROM due WHERE (standing.merchant_id, standing.tx_hash, standing.log_index, standing.block_number, standing.kind, standing.units, standing.block_time)
      = (due.merchant_id, due.tx_hash, due.log_index, due.block_number, due.kind, due.units, due.block_time) AND standing.order_id IS NOT DISTINCT FROM due.order_id)),
  counted AS (
    INSERT INTO ledgers AS known SELECT merchant_id, count(*) FROM lacking GROUP BY merchant_id ORDER BY merchant_id
    ON CONFLICT (merchant_id) DO UPDATE SET sequence = known.sequence + EXCLUDED.sequence RETURNING merchant_id, sequence),
  added AS (
    INSERT INTO entries (merchant_id, sequence, kind, units, brl_centavos, order_id, reverses, at, chain_id, tx_hash, log_index, block_number, block_time,
      payer_address, address, reason, booked_at)
    SELECT merchant_id, counted.sequence + 1 - row_number() OVER (PARTITION BY merchant_id ORDER BY reverses DESC NULLS FIRST, block_number DESC, log_index DESC,
        array_position('{settled,fee,direct,unmatched,payment}', kind)),
      kind, units, brl_centavos, order_id, reverses, CASE WHEN block_time < through THEN greatest(now(), through) ELSE block_time END, chain_id, tx_hash, log_index,
      block_number, block_time, payer_address, address, reason, now()
    FROM lacking JOIN counted USING (merchant_id), ledger_close
    RETURNING *),
  summed AS (
    INSERT INTO entry_sums AS known
    SELECT merchant_id, date_bin('15 minutes', at, '2000-01-01T00:00:00Z'), kind, sum(CASE WHEN reverses IS NULL THEN 1 ELSE -1 END), sum(units), coalesce(sum(brl_centavos), 0) FROM added GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (merchant_id, quarter, kind) DO UPDATE SET movements = known.movements + EXCLUDED.movements, units = known.units + EXCLUDED.units,
      brl_centavos = known.brl_centavos + EXCLUDED.brl_centavos)
  SELECT count(*) INTO booked FROM added;
  RETURN booked;
END $$;

-- In a trigger, so that replicas of every release write the ledger with what they write of the chain.
CREATE FUNCTION book_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF EXISTS (SELECT FROM changed WHERE TG_OP <> 'INSERT' OR status = 'confirmed') THEN
    PERFORM book(ARRAY(SELECT DISTINCT tx_hash FROM changed WHERE TG_OP <> 'INSERT' OR status = 'confirmed'));
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER book_inserted AFTER INSERT ON payments REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION book_changed();
CREATE TRIGGER book_updated AFTER UPDATE ON payments REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION book_changed();
CREATE TRIGGER book_inserted AFTER INSERT ON sweeps REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION book_changed();
CREATE TRIGGER book_updated AFTER UPDATE ON sweeps REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION book_changed();
CREATE TRIGGER book_inserted AFTER INSERT ON unmatched_payments REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION book_changed();
CREATE TRIGGER book_updated AFTER UPDATE ON unmatched_payments REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION book_changed();
CREATE TRIGGER book_deleted AFTER DELETE ON unmatched_payments REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION book_changed();

-- A payout address that is known late decides whose the money was that went there since.
CREATE FUNCTION book_paid_at() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM book(ARRAY(
    SELECT tx_hash FROM unmatched_payments WHERE lower(merchant_address) IN (
      SELECT lower(known.payout_address) FROM payout_addresses AS known JOIN changed USING (merchant_id))
    AND status = 'confirmed' AND block_time >= (SELECT min(since) FROM changed)));
  RETURN NULL;
END $$;
CREATE TRIGGER book_paid_at AFTER INSERT ON payout_addresses REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION book_paid_at();

-- What there is already, in the order in which it happened.
DO $$ DECLARE hashes text[]; BEGIN
  FOR hashes IN
    SELECT array_agg(tx_hash) FROM (
      SELECT tx_hash, row_number() OVER (ORDER BY min(block_number), tx_hash) / 5000 AS part FROM (
        SELECT tx_hash, block_number FROM payments WHERE status = 'confirmed'
        UNION ALL SELECT tx_hash, block_number FROM sweeps WHERE status = 'confirmed'
        UNION ALL SELECT tx_hash, block_number FROM unmatched_payments WHERE status = 'confirmed') AS moved
      GROUP BY tx_hash) AS parts
    GROUP BY part ORDER BY part
  LOOP PERFORM book(hashes); END LOOP;
END $$;
ANALYZE entries, entry_sums;
