-- The customer of an order, as the merchant named it. Apart from the order, so that erasing it touches nothing that is counted, and no order read for a payment has it.
CREATE TABLE order_customers (
  order_id uuid PRIMARY KEY,
  merchant_id uuid NOT NULL,
  name text,
  email text,
  tax_id text,
  resident boolean,
  given_at timestamptz(3) NOT NULL
);
CREATE INDEX order_customers_tax_id_idx ON order_customers (merchant_id, tax_id) WHERE tax_id IS NOT NULL;
CREATE INDEX order_customers_email_idx ON order_customers (merchant_id, lower(email)) WHERE email IS NOT NULL;

-- A CPF, a CNPJ or a mail address that a merchant had erased, for as long as a charge may be under way that still names it.
CREATE TABLE customer_erasures (
  merchant_id uuid NOT NULL,
  subject text NOT NULL,
  erased_at timestamptz(3) NOT NULL,
  PRIMARY KEY (merchant_id, subject)
);

-- The fiscal document that was issued for an order, read beside its entries, which never change.
CREATE TABLE fiscal_documents (
  order_id uuid PRIMARY KEY,
  merchant_id uuid NOT NULL,
  kind text NOT NULL,
  key text NOT NULL,
  set_at timestamptz(3) NOT NULL,
  set_by text
);
