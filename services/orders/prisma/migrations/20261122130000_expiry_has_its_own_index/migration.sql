-- A list of one merchant by status must not read the open orders of all: only the expiry's query says `chain_id > 0`.
DROP INDEX orders_expiring;
CREATE INDEX orders_expiring ON orders (chain_id, expires_at) WHERE status IN ('pending', 'underpaid', 'confirming') AND chain_id > 0;
