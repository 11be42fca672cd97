-- A payer may sign on any network of an order. Those of its first stay where a replica of the release before writes and reads them by the order alone.
CREATE TABLE network_authorizations (
  order_id uuid NOT NULL,
  chain_id integer NOT NULL,
  generation uuid,
  attempt integer NOT NULL,
  revision integer NOT NULL,
  status text NOT NULL CHECK (status IN ('accepted', 'submitted', 'paid', 'failed')),
  payer_address text NOT NULL,
  gross_units bigint NOT NULL,
  valid_before bigint NOT NULL,
  tx_hash text,
  reason text,
  PRIMARY KEY (order_id, chain_id)
);
