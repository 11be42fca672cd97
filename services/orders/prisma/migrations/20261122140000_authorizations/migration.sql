-- The last signature that the relayer took for an order: while it is on its way its amount is not due.
CREATE TABLE authorizations (
  order_id uuid PRIMARY KEY,
  attempt integer NOT NULL,
  revision integer NOT NULL,
  status text NOT NULL CHECK (status IN ('accepted', 'submitted', 'paid', 'failed')),
  payer_address text NOT NULL,
  gross_units bigint NOT NULL,
  valid_before bigint NOT NULL,
  tx_hash text,
  reason text
);
