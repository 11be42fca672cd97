-- The operator's audit asks for the payments of a span of blocks, span after span.
CREATE INDEX payments_block_number_idx ON payments (block_number);
