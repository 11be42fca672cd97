-- A payout address that was a contract when the order was made is swept to only where that contract stands.
ALTER TABLE payables ADD COLUMN merchant_is_contract boolean NOT NULL DEFAULT false;
ALTER TABLE payables DROP CONSTRAINT payables_blocked_reason_check, ADD CONSTRAINT payables_blocked_reason_check
  CHECK (blocked_reason IN ('payout_address_blocked', 'payout_contract_missing', 'fee_receiver_blocked', 'token_paused', 'sweep_refused'));
