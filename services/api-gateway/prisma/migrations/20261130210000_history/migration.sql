-- The server, its timeline and the database that the last change was settled in: in another one, what waits may have been cancelled since.
CREATE TABLE history (name text NOT NULL, one boolean PRIMARY KEY DEFAULT true CHECK (one));
