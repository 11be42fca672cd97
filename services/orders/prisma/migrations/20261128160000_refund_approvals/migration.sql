-- Above this sum the refunds of an order take two members; null where the merchant chose none.
ALTER TABLE merchants ADD COLUMN refund_approval_above_units bigint;
-- The first other member who agreed to a refund. No refund is read for the constraint: none is approved yet.
ALTER TABLE refunds ADD COLUMN approved_by text, ADD COLUMN approved_at timestamptz(3);
ALTER TABLE refunds ADD CONSTRAINT refunds_approval_check
  CHECK ((approved_by IS NULL) = (approved_at IS NULL) AND (approved_by IS NULL OR requested_by IS NULL OR approved_by <> requested_by)) NOT VALID;
