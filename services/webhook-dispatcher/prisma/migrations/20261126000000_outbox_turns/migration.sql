-- Whose turn an event takes where many wait. One of the release before has none, and waits for nobody.
ALTER TABLE outbox ADD COLUMN merchant_id uuid;
