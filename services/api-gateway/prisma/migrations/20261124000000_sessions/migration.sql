-- Sessions of users, as the identity provider names them, so that users see and end them.
CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  provider_id text NOT NULL,
  user_id text NOT NULL,
  started_at timestamptz(3) NOT NULL,
  last_seen_at timestamptz(3) NOT NULL,
  user_agent text,
  network text NOT NULL,
  ended_at timestamptz(3),
  ended_others_at timestamptz(3)
);
CREATE UNIQUE INDEX sessions_provider_id_key ON sessions (provider_id);
CREATE INDEX sessions_user_id_last_seen_at_idx ON sessions (user_id, last_seen_at);
CREATE INDEX sessions_last_seen_at_idx ON sessions (last_seen_at);
