-- A block's time has no parts of a second: money of the second in which an address was named is the merchant's.
CREATE OR REPLACE FUNCTION paid_at(address text, paid timestamptz) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
  SELECT DISTINCT merchant_id FROM payout_addresses AS known WHERE lower(payout_address) = lower(address) AND date_trunc('second', since) <= paid
    AND paid < coalesce((SELECT later.since FROM payout_addresses AS later WHERE later.merchant_id = known.merchant_id
      AND later.merchant_version > known.merchant_version ORDER BY later.merchant_version LIMIT 1), 'infinity')
$$;
