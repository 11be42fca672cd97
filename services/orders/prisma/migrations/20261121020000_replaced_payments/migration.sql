-- A sweep of a deposit address stands for the transfers that it swept: they do not count beside it.
ALTER TABLE payments ADD COLUMN replaces text[] NOT NULL DEFAULT '{}';
