-- A merchant may be paid at another address on some networks, by the number of the network. An order keeps those of its moment in a column that the release before
-- neither reads nor writes. In the history they stand in lower case, by which they are found.
ALTER TABLE merchants ADD COLUMN payout_addresses jsonb NOT NULL DEFAULT '{}';
ALTER TABLE payout_addresses ADD COLUMN of_networks jsonb NOT NULL DEFAULT '{}';
ALTER TABLE orders ADD COLUMN merchant_addresses jsonb NOT NULL DEFAULT '{}';
CREATE INDEX payout_addresses_of_networks_idx ON payout_addresses USING gin (of_networks jsonb_path_ops);

CREATE FUNCTION payout_address_on(placed orders, chain int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(placed.merchant_addresses ->> chain::text, placed.merchant_address)
$$;

-- An address is a merchant's on the networks for which they named it: a contract of another one may stand at it elsewhere. The functions without a network are
-- those of the release before.
CREATE FUNCTION paid_at(address text, paid timestamptz, chain int) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
  SELECT DISTINCT merchant_id FROM payout_addresses AS known
  WHERE (lower(payout_address) = lower(address) AND of_networks ->> chain::text IS NULL OR of_networks @> jsonb_build_object(chain::text, lower(address)))
    AND date_trunc('second', since) <= paid
    AND paid < coalesce((SELECT later.since FROM payout_addresses AS later WHERE later.merchant_id = known.merchant_id
      AND later.merchant_version > known.merchant_version ORDER BY later.merchant_version LIMIT 1), 'infinity')
$$;
CREATE FUNCTION payees(named text, address text, paid timestamptz, chain int) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
  SELECT merchant_id FROM paid_at(address, paid, chain) AS named_by (merchant_id)
  UNION SELECT merchant_id FROM orders WHERE memo = named AND lower(payout_address_on(orders, chain)) = lower(address)
$$;

CREATE OR REPLACE VIEW due_entries_of_money_in AS
WITH moved AS NOT MATERIALIZED (
  SELECT orders.merchant_id, 'payment' AS came, paid.kind = 'router' AS settles, orders.fee_bps, orders.rate_micros, orders.id AS order_id, coalesce(substring(paid.id FROM '^([0-9]+):')::int, orders.chain_id) AS chain_id,
    payout_address_on(orders, coalesce(substring(paid.id FROM '^([0-9]+):')::int, orders.chain_id)) AS merchant_address, paid.deposit_address, paid.payer_address, paid.gross_units, paid.tx_hash, paid.log_index, paid.block_number, paid.block_time, NULL AS reason, NULL::bigint AS taken_units
  FROM payments AS paid JOIN orders ON orders.id = paid.order_id WHERE paid.status = 'confirmed'
  UNION ALL
  SELECT orders.merchant_id, 'accepted', false, orders.fee_bps, orders.rate_micros, orders.id, coalesce(substring(paid.id FROM '^([0-9]+):')::int, orders.chain_id),
    payout_address_on(orders, coalesce(substring(paid.id FROM '^([0-9]+):')::int, orders.chain_id)), NULL, NULL, orders.usdc_units - orders.confirmed_units, paid.tx_hash, paid.log_index, paid.block_number, paid.block_time, coalesce(orders.accepted_reason, 'payment_tolerance'), NULL
  FROM payments AS paid JOIN orders ON orders.id = paid.order_id AND orders.last_block = paid.block_number AND orders.last_index = paid.log_index AND orders.last_tx_hash = paid.tx_hash
  WHERE paid.status = 'confirmed' AND orders.status = 'paid'
    AND (orders.accepted_at IS NOT NULL OR (orders.superseded_at IS NULL AND orders.usdc_units - orders.confirmed_units > 10000))
  UNION ALL
  SELECT merchant_id, CASE WHEN memo = '0000000000000000000000000000000000000000000000000000000000000000' THEN 'direct' ELSE 'unmatched' END, kind = 'router', coalesce(fee_bps, 0), NULL, NULL, chain_id,
    merchant_address, deposit_address, payer_address, gross_units, tx_hash, log_index, block_number, block_time, CASE WHEN memo <> '0000000000000000000000000000000000000000000000000000000000000000' THEN reason END, NULL
  FROM unmatched_payments AS unmatched LEFT JOIN routers ON routers.router_address = lower(unmatched.router_address),
    payees(memo, merchant_address, block_time, chain_id) AS merchant_id
  WHERE status = 'confirmed' AND reason NOT IN ('wrong_token', 'amount_out_of_range')
  UNION ALL
  SELECT coalesce(orders.merchant_id, owner.merchant_id), CASE WHEN orders.id IS NULL AND NOT EXISTS (
      SELECT FROM unmatched_payments AS came WHERE came.chain_id = swept.chain_id AND lower(came.deposit_address) = lower(swept.deposit_address) AND came.memo = swept.memo AND came.status = 'confirmed')
      THEN 'unmatched' END, true, coalesce(orders.fee_bps, routers.fee_bps, 0), orders.rate_micros, orders.id, swept.chain_id,
    swept.merchant_address, swept.deposit_address, NULL, swept.gross_units, swept.tx_hash, swept.log_index, swept.block_number, swept.block_time,
    CASE WHEN orders.id IS NULL THEN 'unknown_memo' END, swept.fee_units
  FROM sweeps AS swept
    LEFT JOIN orders ON orders.memo = swept.memo AND lower(payout_address_on(orders, swept.chain_id)) = lower(swept.merchant_address)
      AND (orders.chain_id = swept.chain_id AND lower(orders.router_address) = lower(swept.router_address) AND lower(orders.token_address) = lower(swept.token_address)
        OR EXISTS (SELECT FROM jsonb_to_recordset(orders.networks) AS other ("chainId" int, "routerAddress" text, "tokenAddress" text)
          WHERE other."chainId" = swept.chain_id AND lower(other."routerAddress") = lower(swept.router_address) AND lower(other."tokenAddress") = lower(swept.token_address)))
    LEFT JOIN routers ON routers.router_address = lower(swept.router_address)
    LEFT JOIN LATERAL paid_at(swept.merchant_address, swept.block_time, swept.chain_id) AS owner (merchant_id) ON orders.id IS NULL
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

CREATE OR REPLACE FUNCTION book_paid_at() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  addresses text[] := ARRAY(
    SELECT lower(known.payout_address) FROM payout_addresses AS known JOIN changed USING (merchant_id) WHERE known.payout_address IS NOT NULL
    UNION SELECT own.address FROM payout_addresses AS known JOIN changed USING (merchant_id), jsonb_each_text(known.of_networks) AS own (chain, address));
  earliest timestamptz := (SELECT date_trunc('second', min(since)) FROM changed);
BEGIN
  PERFORM pg_advisory_xact_lock(7210418);
  PERFORM book(ARRAY(
    SELECT tx_hash FROM unmatched_payments WHERE lower(merchant_address) = ANY(addresses) AND status = 'confirmed' AND block_time >= earliest
    UNION SELECT tx_hash FROM sweeps WHERE lower(merchant_address) = ANY(addresses) AND status = 'confirmed' AND block_time >= earliest));
  RETURN NULL;
END $$;
