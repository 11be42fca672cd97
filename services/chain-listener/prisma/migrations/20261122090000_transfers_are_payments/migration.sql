-- An event of the state before would be read as a payment that was swept: none may be left unpublished.
DO $$ BEGIN
  IF EXISTS (SELECT 1 FROM outbox WHERE sent_at IS NULL AND type LIKE 'payment.%') THEN
    RAISE EXCEPTION 'Payment events of the version before are not published yet. Start that version until ponte_outbox_oldest_age_seconds is 0, then migrate.';
  END IF;
END $$;

-- A transfer to a deposit address is the payment; the sweep that empties the address only settles it. Rows name their kind and the gross amount.
ALTER TABLE payments ADD COLUMN kind text;
ALTER TABLE payments ADD COLUMN amount numeric(78, 0);
UPDATE payments SET amount = share + fee, kind = CASE WHEN deposit IS NULL THEN 'router' ELSE 'transfer' END;
UPDATE payments SET kind = 'sweep', deposit = payer
FROM payables
WHERE payables.chain_id = payments.chain_id AND payables.address = payments.payer AND payables.memo = payments.memo
  AND payables.merchant = payments.merchant AND payables.router = payments.router AND payments.kind = 'router';
ALTER TABLE payments ALTER COLUMN kind SET NOT NULL;
ALTER TABLE payments ALTER COLUMN amount SET NOT NULL;
ALTER TABLE payments ADD CONSTRAINT payments_kind_check CHECK (kind IN ('router', 'transfer', 'sweep'));
ALTER TABLE payments DROP COLUMN share, DROP COLUMN fee;

-- No transfer was ever published as confirmed. Those that a confirmed sweep stands for were confirmed by it where orders keeps them; the others
-- are confirmed, and published, by the next step of the scan.
UPDATE payments SET state = 'detected'
WHERE kind = 'transfer' AND state = 'confirmed' AND NOT EXISTS (
  SELECT 1 FROM payments AS sweep
  WHERE sweep.chain_id = payments.chain_id AND sweep.deposit = payments.deposit AND sweep.kind = 'sweep' AND sweep.state = 'confirmed'
    AND (sweep.block_number, sweep.log_index) > (payments.block_number, payments.log_index));

-- An address is watched for ever once its earlier blocks are read: read_to is the last block read for it before that.
ALTER TABLE payables RENAME COLUMN level TO synced;
ALTER TABLE payables ADD COLUMN watch_from bigint;
UPDATE payables SET watch_from = coalesce(
  (SELECT max(number) + 1 FROM blocks WHERE blocks.chain_id = payables.chain_id AND time < payables.created_at - interval '1 minute'),
  (SELECT start_block FROM chain_cursor WHERE chain_cursor.chain_id = payables.chain_id), 0);
-- What was read in every block is published as synced at the first step; what was let go in the last two days is read on from there. Older
-- addresses were looked at by their balance every hour until now.
UPDATE payables SET read_to = CASE WHEN synced THEN coalesce(scanned_number, -1) ELSE coalesce(read_to, watch_from - 1) END,
  synced = NOT synced AND read_to IS NOT NULL AND held_units = 0 AND expires_at < coalesce(scanned_time, now()) - interval '2 days'
FROM chain_cursor WHERE chain_cursor.chain_id = payables.chain_id;
UPDATE payables SET read_to = watch_from - 1 WHERE read_to IS NULL;
ALTER TABLE payables ALTER COLUMN watch_from SET NOT NULL;
ALTER TABLE payables ALTER COLUMN read_to SET NOT NULL;
ALTER TABLE payables DROP COLUMN looked_at, DROP COLUMN asked_units, DROP COLUMN created_at;

-- Why what lies at an address cannot be swept; each change has a revision and is published by the scan.
ALTER TABLE payables ADD COLUMN blocked_reason text
  CHECK (blocked_reason IN ('payout_address_blocked', 'fee_receiver_blocked', 'token_paused', 'sweep_refused'));
ALTER TABLE payables ADD COLUMN blocked_revision integer NOT NULL DEFAULT 0;
ALTER TABLE payables ADD COLUMN blocked_published integer NOT NULL DEFAULT 0;

DROP INDEX IF EXISTS payables_level, payables_late, payables_old, payables_held;
CREATE INDEX payables_unsynced ON payables (read_to) WHERE NOT synced AND address IS NOT NULL;
CREATE INDEX payables_held ON payables (held_units) WHERE held_units > 0;
CREATE INDEX payables_unpublished ON payables (chain_id) WHERE blocked_revision > blocked_published;
CREATE INDEX payables_blocked ON payables (chain_id) WHERE blocked_reason IS NOT NULL;
