-- The first delivery of an event has the event's id: its primary key says that there is one only, and two indexes less are written by each
-- of the three statements in a delivery's life.
UPDATE attempts a SET delivery_id = d.event_id FROM deliveries d WHERE a.delivery_id = d.id AND d.replay_of IS NULL;
UPDATE deliveries r SET replay_of = d.event_id FROM deliveries d WHERE r.replay_of = d.id AND d.replay_of IS NULL;
UPDATE deliveries SET id = event_id WHERE replay_of IS NULL;
ALTER TABLE deliveries ADD CONSTRAINT deliveries_first_id CHECK ((replay_of IS NULL) = (id = event_id));
DROP INDEX deliveries_event;
DROP INDEX deliveries_merchant_type;
