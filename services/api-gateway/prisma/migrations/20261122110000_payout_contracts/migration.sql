-- Whether a contract stood at the payout address when it was set: its merchant is warned.
ALTER TABLE merchants ADD COLUMN payout_is_contract boolean NOT NULL DEFAULT false;
