-- The server, its timeline and the database that changes were last settled in, and when: after another one, or a pause, what waits may have been cancelled since.
CREATE TABLE history (name text NOT NULL, seen_at timestamptz NOT NULL DEFAULT now(), one boolean PRIMARY KEY DEFAULT true CHECK (one));
