CREATE TABLE members (
  id uuid PRIMARY KEY,
  merchant_id uuid NOT NULL REFERENCES merchants (id),
  user_id text NOT NULL,
  email text,
  role text NOT NULL,
  created_at timestamptz(3) NOT NULL
);
CREATE UNIQUE INDEX members_merchant_id_user_id_key ON members (merchant_id, user_id);
CREATE INDEX members_user_id_idx ON members (user_id);

-- Who created a merchant is its first owner, also when a replica of the release before creates it.
CREATE FUNCTION add_first_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO members (id, merchant_id, user_id, role, created_at)
  VALUES (gen_random_uuid(), NEW.id, NEW.user_id, 'owner', NEW.created_at);
  RETURN NULL;
END $$;
CREATE TRIGGER merchants_first_owner AFTER INSERT ON merchants FOR EACH ROW EXECUTE FUNCTION add_first_owner();
INSERT INTO members (id, merchant_id, user_id, role, created_at)
SELECT gen_random_uuid(), id, user_id, 'owner', created_at FROM merchants ON CONFLICT DO NOTHING;

-- Null when who created it does not belong to it any more.
ALTER TABLE merchants ALTER COLUMN user_id DROP NOT NULL;

CREATE TABLE invitations (
  id uuid PRIMARY KEY,
  merchant_id uuid NOT NULL REFERENCES merchants (id),
  token_hash bytea NOT NULL,
  email text NOT NULL,
  role text NOT NULL,
  invited_by text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  accepted_at timestamptz(3),
  revoked_at timestamptz(3)
);
CREATE UNIQUE INDEX invitations_token_hash_key ON invitations (token_hash);
CREATE INDEX invitations_merchant_id_idx ON invitations (merchant_id);
