-- Money without an order that needs attention: plain transfers to payout addresses, which carry no memo, are not passed over one by one.
DROP INDEX CONCURRENTLY IF EXISTS unmatched_payments_attention_memo;
CREATE INDEX CONCURRENTLY unmatched_payments_attention_memo
  ON unmatched_payments (lower(merchant_address), block_time DESC, (left(md5(id), 3) || '8' || substr(md5(id), 4, 15)) COLLATE "C" DESC)
  WHERE status = 'confirmed' AND gross_units >= 10000 AND memo <> '0000000000000000000000000000000000000000000000000000000000000000';
