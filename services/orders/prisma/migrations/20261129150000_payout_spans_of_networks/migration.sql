-- Each network's listener is asked to watch payout addresses: in which generation of its history it was, and from which block on, stands beside what it stated
-- of them. All are asked for once more after this.
ALTER TABLE payout_spans ALTER COLUMN generation DROP NOT NULL, ALTER COLUMN revision DROP NOT NULL, ALTER COLUMN watch_from DROP NOT NULL,
  ADD COLUMN asked_generation uuid, ADD COLUMN asked_from bigint;
INSERT INTO payout_spans (chain_id, address, asked_from)
SELECT chain_id, lower(payout_address), min(watch_from) FROM payout_addresses, chain_cursors WHERE payout_address IS NOT NULL GROUP BY 1, 2
ON CONFLICT (chain_id, address) DO UPDATE SET asked_from = EXCLUDED.asked_from;
CREATE INDEX payout_spans_asked ON payout_spans (chain_id, asked_generation);
ALTER TABLE payout_addresses DROP COLUMN asked_generation, DROP COLUMN watch_from;
