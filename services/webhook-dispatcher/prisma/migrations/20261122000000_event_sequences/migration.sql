-- A merchant's events are numbered without gaps in the order of their commits: the counter's row stays locked until then. Who reads on from a
-- number misses none, however late an event arrives.
CREATE TABLE event_sequences (
  merchant_id uuid PRIMARY KEY,
  last bigint NOT NULL
) WITH (fillfactor = 70);
ALTER TABLE events ADD COLUMN sequence bigint;
UPDATE events SET sequence = numbered.sequence
FROM (SELECT id, row_number() OVER (PARTITION BY merchant_id ORDER BY created_at, id) AS sequence FROM events) AS numbered
WHERE events.id = numbered.id;
INSERT INTO event_sequences (merchant_id, last) SELECT merchant_id, max(sequence) FROM events GROUP BY merchant_id;
ALTER TABLE events ALTER COLUMN sequence SET NOT NULL;
CREATE UNIQUE INDEX events_merchant_sequence ON events (merchant_id, sequence);
