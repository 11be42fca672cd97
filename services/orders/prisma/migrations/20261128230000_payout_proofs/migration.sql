-- Signatures that the keys of payout addresses gave for their merchants. A proof stands by itself, so it is kept by its address and not by a version.
CREATE TABLE payout_proofs (
  merchant_id uuid NOT NULL,
  payout_address text NOT NULL,
  message text NOT NULL,
  signature text NOT NULL,
  signed_at timestamptz(3) NOT NULL,
  PRIMARY KEY (merchant_id, payout_address)
);
