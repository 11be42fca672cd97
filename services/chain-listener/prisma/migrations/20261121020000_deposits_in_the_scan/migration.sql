-- A transfer to a deposit address is a payment like any other, read by the same scan: detected, orphaned, found again under the same identity.
ALTER TABLE payments ADD COLUMN deposit text;
CREATE INDEX payments_by_deposit ON payments (chain_id, deposit) WHERE deposit IS NOT NULL;
DROP TABLE transfers;
DROP TABLE looks;

ALTER TABLE payables DROP COLUMN swept_units;
-- Whether the scan reads transfers to the address in each block; when it does not, the last block it has read for it.
ALTER TABLE payables ADD COLUMN level boolean NOT NULL DEFAULT false;
ALTER TABLE payables ADD COLUMN read_to bigint;
-- The confirmed block at which money was last seen to come or go, until the balance was looked at.
ALTER TABLE payables ADD COLUMN moved_at bigint;
ALTER TABLE payables ALTER COLUMN created_at DROP DEFAULT;
CREATE INDEX payables_level ON payables (chain_id) WHERE level;
CREATE INDEX payables_late ON payables (chain_id, expires_at) WHERE NOT level AND address IS NOT NULL;
CREATE INDEX payables_moved ON payables (chain_id) WHERE moved_at IS NOT NULL;
CREATE INDEX payables_by_address ON payables (chain_id, address) WHERE address IS NOT NULL;
