-- A claim whose merchant gave a mail address takes an address from who has the code that was mailed there. The address is forgotten once the claim is over, and
-- `wants_code` stays, so that no claim takes one without a code because its address is gone. A replica of the release before asks for no code: the last check has it
-- take none for such a claim.
ALTER TABLE refund_claims
  ADD COLUMN email text,
  ADD COLUMN wants_code boolean NOT NULL DEFAULT false,
  ADD COLUMN code_hash text,
  ADD COLUMN code_issued_at timestamptz(3),
  ADD COLUMN codes_issued smallint NOT NULL DEFAULT 0,
  ADD COLUMN code_tries smallint NOT NULL DEFAULT 0,
  ADD CHECK (wants_code OR (email IS NULL AND code_hash IS NULL AND codes_issued = 0)),
  ADD CHECK (code_hash IS NULL OR code_issued_at IS NOT NULL),
  ADD CHECK (refund_id IS NULL OR (email IS NULL AND code_hash IS NULL));
-- Addresses to forget.
CREATE INDEX refund_claims_email_idx ON refund_claims (expires_at) WHERE email IS NOT NULL;
