-- An index for each question and for no other: with one chain, an index that begins with it answers every question by being read whole.
DROP INDEX payables_by_expiry;
DROP INDEX payables_by_look;
DROP INDEX payables_level;
DROP INDEX payables_by_address;
CREATE INDEX payables_level ON payables (expires_at) WHERE level;
CREATE INDEX payables_by_address ON payables (address) WHERE address IS NOT NULL;
CREATE INDEX payables_old ON payables (coalesce(looked_at, '-infinity')) WHERE NOT level AND address IS NOT NULL AND held_units = 0;
