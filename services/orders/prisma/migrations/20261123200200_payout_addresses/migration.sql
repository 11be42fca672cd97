-- Where each merchant was paid since when: money that counts for no order is theirs whose payout address it was at its block's time.
CREATE TABLE payout_addresses (
  merchant_id uuid NOT NULL,
  merchant_version integer NOT NULL,
  payout_address text,
  since timestamptz(3) NOT NULL,
  PRIMARY KEY (merchant_id, merchant_version)
);
CREATE INDEX payout_addresses_payout_address_idx ON payout_addresses (payout_address);
INSERT INTO payout_addresses SELECT id, version, payout_address, '1970-01-01T00:00:00Z' FROM merchants;
DROP INDEX merchants_payout_address_idx;
