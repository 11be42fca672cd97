-- A block's time has no parts of a second: money of the second in which an address was named is the merchant's.
CREATE OR REPLACE FUNCTION paid_at(address text, paid timestamptz) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
  SELECT DISTINCT merchant_id FROM payout_addresses AS known WHERE lower(payout_address) = lower(address) AND date_trunc('second', since) <= paid
    AND paid < coalesce((SELECT later.since FROM payout_addresses AS later WHERE later.merchant_id = known.merchant_id
      AND later.merchant_version > known.merchant_version ORDER BY later.merchant_version LIMIT 1), 'infinity')
$$;

-- Both look for what they book after they have waited for the booking under way: what that one had not committed yet was seen by neither.
CREATE OR REPLACE FUNCTION book_paid_at() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  addresses text[] := ARRAY(SELECT lower(known.payout_address) FROM payout_addresses AS known JOIN changed USING (merchant_id) WHERE known.payout_address IS NOT NULL);
  earliest timestamptz := (SELECT date_trunc('second', min(since)) FROM changed);
BEGIN
  PERFORM pg_advisory_xact_lock(7210418);
  PERFORM book(ARRAY(
    SELECT tx_hash FROM unmatched_payments WHERE lower(merchant_address) = ANY(addresses) AND status = 'confirmed' AND block_time >= earliest
    UNION SELECT tx_hash FROM sweeps WHERE lower(merchant_address) = ANY(addresses) AND status = 'confirmed' AND block_time >= earliest));
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION book_unmatched() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$ BEGIN
  IF EXISTS (SELECT FROM changed WHERE TG_OP <> 'INSERT' OR status = 'confirmed') THEN
    PERFORM pg_advisory_xact_lock(7210418);
    PERFORM book(ARRAY(
      SELECT tx_hash FROM changed WHERE TG_OP <> 'INSERT' OR status = 'confirmed'
      UNION SELECT swept.tx_hash FROM changed JOIN sweeps AS swept USING (memo)
      WHERE (TG_OP <> 'INSERT' OR changed.status = 'confirmed') AND lower(swept.deposit_address) = lower(changed.deposit_address)));
  END IF;
  RETURN NULL;
END $$;
