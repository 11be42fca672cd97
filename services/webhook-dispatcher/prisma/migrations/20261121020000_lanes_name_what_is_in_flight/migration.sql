-- What is in flight is named by the lane whose lease it flies under: a claim writes one narrow row per merchant, and each delivery is written
-- once less, with all its indexes.
ALTER TABLE lanes ADD COLUMN in_flight uuid[] NOT NULL DEFAULT '{}';
ALTER TABLE lanes ADD CONSTRAINT lanes_in_flight CHECK (lease_token IS NOT NULL OR in_flight = '{}');
UPDATE lanes SET lease_token = NULL, turn_at = now()
WHERE merchant_id IN (SELECT merchant_id FROM deliveries WHERE status = 'in_flight');

DROP INDEX deliveries_lease;
DROP INDEX deliveries_replay;
ALTER TABLE deliveries DROP CONSTRAINT deliveries_status_check, DROP COLUMN lease_token, DROP COLUMN lease_until;
UPDATE deliveries SET status = 'pending', next_attempt_at = now() WHERE status = 'in_flight';
ALTER TABLE deliveries ADD CONSTRAINT deliveries_status_check CHECK (status IN ('pending', 'delivered', 'dead'));
-- At most one replay of a delivery is on its way.
CREATE UNIQUE INDEX deliveries_replay ON deliveries (replay_of) WHERE replay_of IS NOT NULL AND status = 'pending';
