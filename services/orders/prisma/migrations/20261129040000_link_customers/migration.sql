-- The customer of an invoice's link, whom each order of it gets. Apart from the link, as that of an order is, so that erasing it touches nothing else.
CREATE TABLE link_customers (
  link_id uuid PRIMARY KEY,
  merchant_id uuid NOT NULL,
  name text,
  email text,
  tax_id text,
  resident boolean,
  given_at timestamptz(3) NOT NULL
);
CREATE INDEX link_customers_tax_id_idx ON link_customers (merchant_id, tax_id) WHERE tax_id IS NOT NULL;
CREATE INDEX link_customers_email_idx ON link_customers (merchant_id, lower(email)) WHERE email IS NOT NULL;
