-- A payer may sign on any network of an order: the last signature of each counts by itself.
ALTER TABLE authorizations ADD COLUMN chain_id integer;
UPDATE authorizations SET chain_id = coalesce((SELECT orders.chain_id FROM orders WHERE orders.id = order_id), 0);
ALTER TABLE authorizations DROP CONSTRAINT authorizations_pkey, ADD PRIMARY KEY (order_id, chain_id);
