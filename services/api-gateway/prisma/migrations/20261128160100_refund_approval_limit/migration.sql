-- Above this sum the refunds of an order take two members; null where the merchant chose none.
ALTER TABLE merchants ADD COLUMN refund_approval_above_units bigint;
