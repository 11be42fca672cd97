-- Orders that were cancelled before the listener knew them, or that are of another chain.
CREATE TABLE early_cancellations (
  chain_id BIGINT NOT NULL,
  order_id UUID NOT NULL,
  cancelled_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (chain_id, order_id)
);
CREATE INDEX early_cancellations_by_time ON early_cancellations (cancelled_at);
