-- A cancelled refund: signatures that end by then are submitted no more, also where a reorganisation undoes the cancellation on the chain.
ALTER TABLE refund_watches ADD COLUMN withdrawn_until bigint;
