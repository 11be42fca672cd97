-- The same token may lie at an order's address on each of its networks.
ALTER TABLE foreign_tokens DROP CONSTRAINT foreign_tokens_order_id_token_address_key;
CREATE UNIQUE INDEX foreign_tokens_order_id_chain_id_token_address_key ON foreign_tokens (order_id, chain_id, token_address);
