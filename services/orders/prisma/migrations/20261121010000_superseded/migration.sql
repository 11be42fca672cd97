-- Since when another order of the same subscription period is paid instead: money for this one is a duplicate.
ALTER TABLE orders ADD COLUMN superseded_at timestamptz(3);
