-- Networks that an order may be paid on beside its first; and the chain of what completed it and of what came last, which are null where the release before
-- counted, which knows one network.
ALTER TABLE orders ADD COLUMN networks jsonb NOT NULL DEFAULT '[]',
  ADD COLUMN completing_chain_id integer, ADD COLUMN last_chain_id integer, ADD COLUMN last_time timestamptz(3);

-- Watching of each of these networks, as deposit_states has it of the first.
CREATE TABLE order_networks (
  order_id uuid NOT NULL,
  chain_id integer NOT NULL,
  watched_generation uuid,
  watched_version integer NOT NULL DEFAULT 0,
  watched_through bigint,
  asked_generation uuid,
  asked_at timestamptz,
  blocked_reason text,
  blocked_revision integer NOT NULL DEFAULT 0,
  PRIMARY KEY (order_id, chain_id)
);
