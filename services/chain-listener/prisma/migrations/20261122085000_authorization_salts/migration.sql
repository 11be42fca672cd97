-- A payer may sign again for the same order, with another salt. What was signed before has none; zero stands for it.
ALTER TABLE authorizations ADD COLUMN salt text NOT NULL DEFAULT '0x0000000000000000000000000000000000000000000000000000000000000000';
ALTER TABLE authorizations ALTER COLUMN salt DROP DEFAULT;
-- Counts the signatures of one payer for one order: of two that come at once, only one gets the next number.
ALTER TABLE authorizations ADD COLUMN attempt integer NOT NULL DEFAULT 1;
ALTER TABLE authorizations ALTER COLUMN attempt DROP DEFAULT;
ALTER TABLE authorizations DROP CONSTRAINT authorizations_pkey, ADD PRIMARY KEY (chain_id, memo, payer, salt);
CREATE UNIQUE INDEX authorizations_attempt ON authorizations (chain_id, memo, payer, attempt);

-- NULL for a sweep.
ALTER TABLE relays ADD COLUMN salt text;
UPDATE relays SET salt = '0x0000000000000000000000000000000000000000000000000000000000000000' WHERE payer IS NOT NULL;
