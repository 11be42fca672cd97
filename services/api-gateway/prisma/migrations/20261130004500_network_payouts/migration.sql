-- A merchant may be paid at another address on some networks. A change of one waits in columns of its own: the release before would put it in force for all of them.
ALTER TABLE merchants ADD COLUMN payout_addresses jsonb, ADD COLUMN pending_network_payout jsonb, ADD COLUMN pending_network_payout_activates_at timestamptz(3);
