-- What a merchant has handled, with the facts as they were then: it needs attention again once they are others.
ALTER TABLE orders ADD COLUMN handled_at timestamptz(3), ADD COLUMN handled_by text, ADD COLUMN handled_facts text, ADD COLUMN handled_blocked text;
-- By merchant, since several may have set one payout address, and none of them decides for another.
CREATE TABLE handled_payments (
  merchant_id uuid NOT NULL,
  payment_id text NOT NULL,
  facts text NOT NULL,
  handled_at timestamptz(3) NOT NULL,
  handled_by text,
  PRIMARY KEY (merchant_id, payment_id)
);
