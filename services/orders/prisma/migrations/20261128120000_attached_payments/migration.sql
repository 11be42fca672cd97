-- A merchant's word: this payment, which carries the memo of no order, counts for that order.
CREATE TABLE attachments (
  payment_id text PRIMARY KEY,
  order_id uuid NOT NULL,
  memo text NOT NULL,
  reason text NOT NULL,
  attached_by text,
  attached_at timestamptz(3) NOT NULL
);
CREATE INDEX attachments_order_id_idx ON attachments (order_id);
