-- Whose deposit address it is that cannot be swept. Rows of the release before have none until they are recorded anew.
ALTER TABLE deposit_states ADD COLUMN merchant_id uuid;
UPDATE deposit_states SET merchant_id = orders.merchant_id FROM orders WHERE orders.id = deposit_states.order_id AND blocked_reason IS NOT NULL;
