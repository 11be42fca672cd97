-- A rotation with an Idempotency-Key: the hash of that key, and the salt that its API key is derived with. Both are cleared after seven days.
ALTER TABLE api_keys
  ADD COLUMN request_hash bytea CHECK (length(request_hash) = 32),
  ADD COLUMN salt bytea CHECK (length(salt) = 32),
  ADD CHECK ((request_hash IS NULL) = (salt IS NULL));
CREATE UNIQUE INDEX api_keys_merchant_id_request_hash_key ON api_keys (merchant_id, request_hash);
