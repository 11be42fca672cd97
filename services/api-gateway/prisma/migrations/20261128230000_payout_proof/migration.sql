-- The signature by the key of the payout address in force; it names its address, because a replica of the release before changes the address alone.
ALTER TABLE merchants ADD COLUMN payout_proof jsonb;
