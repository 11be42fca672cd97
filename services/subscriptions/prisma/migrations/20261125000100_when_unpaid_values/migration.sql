-- A migration of its own, so that no lock on the table is held meanwhile.
UPDATE subscriptions SET when_unpaid = 'leave' WHERE when_unpaid IS NULL;
