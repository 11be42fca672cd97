-- The customer of a subscription, as the merchant named it, with the time at which it did; null without one.
ALTER TABLE subscriptions ADD COLUMN customer jsonb;
