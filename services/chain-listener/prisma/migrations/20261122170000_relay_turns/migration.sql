-- When payers' signatures for a merchant were last submitted: merchants take turns, so that a flood for one delays others by one turn.
CREATE TABLE merchant_turns (
  chain_id BIGINT NOT NULL,
  merchant TEXT NOT NULL,
  served_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (chain_id, merchant)
);
-- Whether a payer's key has paid before, and whether it let a transaction revert.
CREATE INDEX authorizations_by_payer ON authorizations (chain_id, payer) WHERE state = 'paid' OR reason = 'reverted';
-- The accounts that pay for gas, for the contract monitor: the relayer may be another process.
ALTER TABLE chain_cursor ADD COLUMN relay_accounts text[] NOT NULL DEFAULT '{}';
