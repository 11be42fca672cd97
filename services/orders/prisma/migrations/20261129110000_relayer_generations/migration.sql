-- The listener's history in which its relayer stated this; null where a release before it did.
ALTER TABLE authorizations ADD COLUMN generation uuid;
ALTER TABLE deposit_states ADD COLUMN blocked_generation uuid;
ALTER TABLE order_networks ADD COLUMN blocked_generation uuid;
