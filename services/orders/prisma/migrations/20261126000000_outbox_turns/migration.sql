-- The merchant in whose turn an event is published where many wait. One of the release before has none, and takes a turn of its own.
ALTER TABLE outbox ADD COLUMN merchant_id uuid;
