-- A table of its own: replicas of the release before know nothing of scopes, and must not take these keys for the one that may do everything.
CREATE TABLE named_keys (
  id uuid PRIMARY KEY,
  merchant_id uuid NOT NULL REFERENCES merchants (id),
  hash bytea NOT NULL CHECK (length(hash) = 32),
  prefix text NOT NULL,
  name text NOT NULL,
  scopes text[] NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  -- Of a request with an Idempotency-Key: the hashes of that key and of the body, and the salt of the derived API key.
  request_hash bytea,
  body_hash bytea,
  salt bytea
);
CREATE UNIQUE INDEX named_keys_hash_key ON named_keys (hash);
CREATE UNIQUE INDEX named_keys_merchant_id_request_hash_key ON named_keys (merchant_id, request_hash);

ALTER TABLE audit_log ADD COLUMN network text;
CREATE INDEX audit_log_merchant_id_id_idx ON audit_log (merchant_id, id);
CREATE INDEX audit_log_merchant_id_action_id_idx ON audit_log (merchant_id, action, id);

-- Append-only. The rights bind every role but a superuser, the trigger binds that one and roles that are granted rights later.
REVOKE UPDATE, DELETE, TRUNCATE ON audit_log FROM PUBLIC, CURRENT_USER;
CREATE FUNCTION refuse_change_of_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit_log is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit_log();
