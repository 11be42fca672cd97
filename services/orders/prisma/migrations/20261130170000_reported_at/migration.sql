-- When a replica last reported how far a chain is followed; another one reports a minute later.
ALTER TABLE chain_cursors ADD COLUMN reported_at timestamptz(3);
