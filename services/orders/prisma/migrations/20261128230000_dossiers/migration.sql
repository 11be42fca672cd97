-- Basis of an origin dossier: a sum at a payout address, or sequences. Null for a file of entries. Constant-time: no row is rewritten.
ALTER TABLE exports ADD COLUMN dossier jsonb;
