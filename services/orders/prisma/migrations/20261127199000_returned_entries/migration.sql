-- What has gone back from the payout address by a refund is an entry, beside all that came. In a view of its own, so that each says what it is made of.
ALTER VIEW due_entries RENAME TO due_entries_of_money_in;
CREATE VIEW due_entries AS
SELECT * FROM due_entries_of_money_in
UNION ALL
SELECT refunds.merchant_id, 'returned', refunds.units, round(refunds.units::numeric * orders.rate_micros / 10000000000)::bigint, refunds.order_id, refunds.chain_id,
  refunds.tx_hash, refunds.log_index, refunds.block_number, refunds.block_time, NULL, refunds.payee, refunds.reason
FROM refunds JOIN orders ON orders.id = refunds.order_id WHERE refunds.ended = 'transferred';

CREATE INDEX refunds_tx_hash_idx ON refunds (tx_hash);
CREATE INDEX refunds_block_number_idx ON refunds (block_number);

CREATE FUNCTION book_returned() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM book(ARRAY[NEW.tx_hash] || CASE WHEN TG_OP = 'UPDATE' THEN ARRAY[OLD.tx_hash] END);
  RETURN NULL;
END $$;
CREATE TRIGGER book_returned AFTER INSERT ON refunds FOR EACH ROW WHEN (NEW.ended = 'transferred') EXECUTE FUNCTION book_returned();
CREATE TRIGGER book_taken_back AFTER UPDATE ON refunds FOR EACH ROW
  WHEN ((NEW.ended, NEW.tx_hash, NEW.log_index, NEW.block_number, NEW.block_time) IS DISTINCT FROM (OLD.ended, OLD.tx_hash, OLD.log_index, OLD.block_number, OLD.block_time))
  EXECUTE FUNCTION book_returned();

-- What there is already.
SELECT book(ARRAY(SELECT tx_hash FROM refunds WHERE ended = 'transferred'));
