-- What of a merchant needs attention, each read from its index alone at any depth.
DROP INDEX CONCURRENTLY IF EXISTS orders_attention;
CREATE INDEX CONCURRENTLY orders_attention ON orders (merchant_id, id DESC)
  WHERE exception IS NOT NULL OR (status IN ('underpaid', 'expired') AND confirmed_units >= 10000);
DROP INDEX CONCURRENTLY IF EXISTS deposit_states_blocked;
CREATE INDEX CONCURRENTLY deposit_states_blocked ON deposit_states (merchant_id, order_id DESC) WHERE blocked_reason IS NOT NULL;
-- The place of a payment in the list is its time and then what is made of its id, as in the UUID that names it there.
DROP INDEX CONCURRENTLY IF EXISTS unmatched_payments_attention;
CREATE INDEX CONCURRENTLY unmatched_payments_attention
  ON unmatched_payments (lower(merchant_address), block_time DESC, (left(md5(id), 3) || '8' || substr(md5(id), 4, 15)) COLLATE "C" DESC)
  WHERE status = 'confirmed' AND gross_units >= 10000;
