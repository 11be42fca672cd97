-- Names the payer's page. Replicas of the release before insert rows without it.
ALTER TABLE subscriptions ADD COLUMN payer_token uuid;
ALTER TABLE subscriptions ALTER COLUMN payer_token SET DEFAULT gen_random_uuid();
