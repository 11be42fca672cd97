-- A migration of its own, so that no lock on the table is held meanwhile.
UPDATE subscriptions SET payer_token = gen_random_uuid() WHERE payer_token IS NULL;
