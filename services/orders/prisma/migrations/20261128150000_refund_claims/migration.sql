-- Links by which payers name the address that money goes back to. A claim promises nothing: the refund that it becomes is judged as any other. It is written together
-- with the version of its order, so that an order has one that is open, and one claim becomes one refund.
CREATE TABLE refund_claims (
  id uuid PRIMARY KEY,
  order_id uuid NOT NULL,
  merchant_id uuid NOT NULL,
  payer_token uuid NOT NULL UNIQUE,
  units bigint NOT NULL CHECK (units > 0),
  reason text NOT NULL,
  requested_by text,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  cancelled_at timestamptz(3),
  claimed_at timestamptz(3),
  tx_hash text,
  refund_id uuid UNIQUE,
  CHECK ((claimed_at IS NULL) = (refund_id IS NULL) AND (claimed_at IS NULL) = (tx_hash IS NULL)),
  CHECK (claimed_at IS NULL OR cancelled_at IS NULL)
);
CREATE INDEX refund_claims_order_id_idx ON refund_claims (order_id);
