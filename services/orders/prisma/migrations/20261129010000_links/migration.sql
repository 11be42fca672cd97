-- Links by which payers open orders, and the orders of each. Nothing about money waits for either.
CREATE TABLE links (
  id uuid PRIMARY KEY,
  merchant_id uuid NOT NULL,
  terms jsonb NOT NULL,
  payer_token uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('invoice', 'reusable')),
  brl_centavos bigint,
  min_centavos bigint,
  max_centavos bigint,
  description text NOT NULL,
  external_ref text,
  metadata jsonb NOT NULL,
  due_at timestamptz(3),
  quote_seconds int NOT NULL,
  max_payments int,
  success_url text,
  cancel_url text,
  created_by text,
  created_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  CHECK ((brl_centavos IS NULL) = (min_centavos IS NOT NULL AND max_centavos IS NOT NULL))
);
CREATE UNIQUE INDEX links_payer_token_key ON links (payer_token);
CREATE INDEX links_merchant ON links (merchant_id, id DESC);
CREATE INDEX links_merchant_external_ref ON links (merchant_id, external_ref, id DESC);
CREATE TABLE link_orders (
  order_id uuid PRIMARY KEY,
  link_id uuid NOT NULL
);
CREATE INDEX link_orders_link_id_order_id_idx ON link_orders (link_id, order_id);
