-- Another generation of the listener is asked about what was recovered lately.
CREATE INDEX foreign_tokens_block_number_idx ON foreign_tokens (block_number);
