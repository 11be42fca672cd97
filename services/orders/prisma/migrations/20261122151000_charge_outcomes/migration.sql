-- Since when the subscription of an order has ended: it is closed once no money counts for it.
ALTER TABLE orders ADD COLUMN withdrawn_at timestamptz(3);

-- What became of a charge. The primary key decides between a charge and its withdrawal, whichever comes first and in whichever replica.
CREATE TABLE charge_outcomes (
  order_id uuid PRIMARY KEY,
  outcome text NOT NULL CHECK (outcome IN ('opened', 'withdrawn', 'lapsed', 'refused')),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX charge_outcomes_created_at_idx ON charge_outcomes (created_at);

-- Each waiting charge is tried again at its own time, so that a hundred that cannot be opened hold up no other.
ALTER TABLE waiting_charges
  ADD COLUMN merchant_id uuid,
  ADD COLUMN reason text NOT NULL DEFAULT 'rate_unavailable',
  ADD COLUMN tries integer NOT NULL DEFAULT 0,
  ADD COLUMN next_try_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN ends_at timestamptz;
CREATE INDEX waiting_charges_next_try_at_idx ON waiting_charges (next_try_at);
CREATE INDEX waiting_charges_merchant_id_idx ON waiting_charges (merchant_id);
