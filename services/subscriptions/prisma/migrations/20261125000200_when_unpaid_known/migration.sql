ALTER TABLE subscriptions ALTER COLUMN when_unpaid SET NOT NULL;
