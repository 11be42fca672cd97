-- Replicas of the release before insert plans without it, and never paused or ended one that was not paid.
ALTER TABLE subscriptions ALTER COLUMN when_unpaid SET DEFAULT 'leave';
