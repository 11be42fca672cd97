-- Anyone can pay an address that no order has and sweep it: what came is known by its sweep alone, and counts for no order.
CREATE OR REPLACE VIEW due_entries AS
WITH moved AS NOT MATERIALIZED (
  SELECT orders.merchant_id, 'payment' AS came, paid.kind = 'router' AS settles, orders.fee_bps, orders.rate_micros, orders.id AS order_id, orders.chain_id,
    orders.merchant_address, paid.deposit_address, paid.payer_address, paid.gross_units, paid.tx_hash, paid.log_index, paid.block_number, paid.block_time, NULL AS reason, NULL::bigint AS taken_units
  FROM payments AS paid JOIN orders ON orders.id = paid.order_id WHERE paid.status = 'confirmed'
  UNION ALL
  SELECT orders.merchant_id, 'accepted', false, orders.fee_bps, orders.rate_micros, orders.id, orders.chain_id,
    orders.merchant_address, NULL, NULL, orders.usdc_units - orders.confirmed_units, paid.tx_hash, paid.log_index, paid.block_number, paid.block_time, orders.accepted_reason, NULL
  FROM payments AS paid JOIN orders ON orders.id = paid.order_id AND orders.last_block = paid.block_number AND orders.last_index = paid.log_index AND orders.last_tx_hash = paid.tx_hash
  WHERE paid.status = 'confirmed' AND orders.accepted_at IS NOT NULL AND orders.status = 'paid'
  UNION ALL
  SELECT merchant_id, 'unmatched', kind = 'router', coalesce(fee_bps, 0), NULL, NULL, chain_id,
    merchant_address, deposit_address, payer_address, gross_units, tx_hash, log_index, block_number, block_time, reason, NULL
  FROM unmatched_payments AS unmatched LEFT JOIN routers ON routers.router_address = lower(unmatched.router_address),
    paid_at(merchant_address, block_time) AS merchant_id
  WHERE status = 'confirmed' AND reason NOT IN ('wrong_token', 'amount_out_of_range')
  UNION ALL
  SELECT coalesce(orders.merchant_id, owner.merchant_id), CASE WHEN orders.id IS NULL AND NOT EXISTS (
      SELECT FROM unmatched_payments AS came WHERE lower(came.deposit_address) = lower(swept.deposit_address) AND came.memo = swept.memo AND came.status = 'confirmed')
      THEN 'unmatched' END, true, coalesce(orders.fee_bps, routers.fee_bps, 0), orders.rate_micros, orders.id, swept.chain_id,
    swept.merchant_address, swept.deposit_address, NULL, swept.gross_units, swept.tx_hash, swept.log_index, swept.block_number, swept.block_time,
    CASE WHEN orders.id IS NULL THEN 'unknown_memo' END, swept.fee_units
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
CROSS JOIN LATERAL (SELECT coalesce(taken_units, floor(gross_units::numeric * fee_bps / 10000)::bigint) AS fee_units) AS fee
CROSS JOIN LATERAL (SELECT round(gross_units::numeric * rate_micros / 10000000000)::bigint AS gross, round(fee_units::numeric * rate_micros / 10000000000)::bigint AS fee) AS brl
CROSS JOIN LATERAL (VALUES
  (came, gross_units, brl.gross, deposit_address),
  (CASE WHEN settles THEN 'fee' END, fee_units, brl.fee, NULL),
  (CASE WHEN settles THEN 'settled' END, gross_units - fee_units, brl.gross - brl.fee, merchant_address)) AS part (kind, units, brl_centavos, address)
WHERE part.kind IS NOT NULL AND part.units > 0;

-- Appends what the ledger lacks of these transactions, and takes back what is no part of them any more. Called twice it does nothing. Every table has an index
-- by transaction; statistics of one that has just grown would have it read whole. The reason counts too, and what was given away follows its payment.
CREATE OR REPLACE FUNCTION book(hashes text[]) RETURNS bigint LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE booked bigint;
BEGIN
  -- A payment and a change of the payout address that decides whose it is may come at once: the later one sees both.
  PERFORM pg_advisory_xact_lock(7210418);
  WITH due AS (SELECT * FROM due_entries WHERE tx_hash = ANY(hashes)),
  standing AS (SELECT * FROM standing_entries WHERE tx_hash = ANY(hashes)),
  lacking AS (
    SELECT NULL::bigint AS reverses, due.* FROM due
    WHERE NOT EXISTS (SELECT FROM standing WHERE (standing.merchant_id, standing.tx_hash, standing.log_index, standing.block_number, standing.kind, standing.units, standing.block_time)
      = (due.merchant_id, due.tx_hash, due.log_index, due.block_number, due.kind, due.units, due.block_time) AND (standing.order_id, standing.reason) IS NOT DISTINCT FROM (due.order_id, due.reason))
    UNION ALL
    SELECT sequence, merchant_id, kind, -units, -brl_centavos, order_id, chain_id, tx_hash, log_index, block_number, block_time, payer_address, address, reason FROM standing
    WHERE NOT EXISTS (SELECT FROM due WHERE (standing.merchant_id, standing.tx_hash, standing.log_index, standing.block_number, standing.kind, standing.units, standing.block_time)
      = (due.merchant_id, due.tx_hash, due.log_index, due.block_number, due.kind, due.units, due.block_time) AND (standing.order_id, standing.reason) IS NOT DISTINCT FROM (due.order_id, due.reason))),
  counted AS (
    INSERT INTO ledgers AS known SELECT merchant_id, count(*) FROM lacking GROUP BY merchant_id ORDER BY merchant_id
    ON CONFLICT (merchant_id) DO UPDATE SET sequence = known.sequence + EXCLUDED.sequence RETURNING merchant_id, sequence),
  added AS (
    INSERT INTO entries (merchant_id, sequence, kind, units, brl_centavos, order_id, reverses, at, chain_id, tx_hash, log_index, block_number, block_time,
      payer_address, address, reason, booked_at)
    SELECT merchant_id, counted.sequence + 1 - row_number() OVER (PARTITION BY merchant_id ORDER BY reverses DESC NULLS FIRST, block_number DESC, log_index DESC,
        array_position('{accepted,settled,fee,direct,unmatched,payment}', kind)),
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

-- A sweep without an order is what came where its transfers are not known.
CREATE FUNCTION book_unmatched() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$ BEGIN
  IF EXISTS (SELECT FROM changed WHERE TG_OP <> 'INSERT' OR status = 'confirmed') THEN
    PERFORM book(ARRAY(
      SELECT tx_hash FROM changed WHERE TG_OP <> 'INSERT' OR status = 'confirmed'
      UNION SELECT swept.tx_hash FROM changed JOIN sweeps AS swept USING (memo)
      WHERE (TG_OP <> 'INSERT' OR changed.status = 'confirmed') AND lower(swept.deposit_address) = lower(changed.deposit_address)));
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER book_inserted AFTER INSERT ON unmatched_payments REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION book_unmatched();
CREATE OR REPLACE TRIGGER book_updated AFTER UPDATE ON unmatched_payments REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION book_unmatched();
CREATE OR REPLACE TRIGGER book_deleted AFTER DELETE ON unmatched_payments REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION book_unmatched();

-- An order that is made after its address was swept has the sweep from then on.
CREATE FUNCTION book_ordered() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$ BEGIN
  IF EXISTS (SELECT FROM changed JOIN sweeps USING (memo)) THEN
    PERFORM book(ARRAY(SELECT swept.tx_hash FROM changed JOIN sweeps AS swept USING (memo)));
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER book_ordered AFTER INSERT ON orders REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION book_ordered();

-- A payout address that is known late decides whose the money was that went there since, by a payment or by a sweep.
CREATE OR REPLACE FUNCTION book_paid_at() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  addresses text[] := ARRAY(SELECT lower(known.payout_address) FROM payout_addresses AS known JOIN changed USING (merchant_id) WHERE known.payout_address IS NOT NULL);
  earliest timestamptz := (SELECT min(since) FROM changed);
BEGIN
  PERFORM book(ARRAY(
    SELECT tx_hash FROM unmatched_payments WHERE lower(merchant_address) = ANY(addresses) AND status = 'confirmed' AND block_time >= earliest
    UNION
    SELECT tx_hash FROM sweeps AS swept WHERE lower(merchant_address) = ANY(addresses) AND status = 'confirmed' AND block_time >= earliest
      AND NOT EXISTS (SELECT FROM orders WHERE orders.memo = swept.memo AND lower(orders.merchant_address) = lower(swept.merchant_address))));
  RETURN NULL;
END $$;

-- What there is already.
SELECT book(ARRAY(
  SELECT tx_hash FROM sweeps AS swept WHERE status = 'confirmed'
    AND NOT EXISTS (SELECT FROM orders WHERE orders.memo = swept.memo AND lower(orders.merchant_address) = lower(swept.merchant_address))));
