-- A period counts as unpaid once orders has reported the end of each of its orders.
ALTER TABLE subscriptions ADD COLUMN pause_reason text, ADD COLUMN forgiven_index integer NOT NULL DEFAULT -1;

UPDATE subscriptions SET pause_reason = CASE WHEN when_unpaid = 'pause' AND unpaid_periods >= unpaid_periods_max THEN 'unpaid' ELSE 'merchant' END
WHERE paused_at IS NOT NULL;

-- The release before counted a period at its end, also when its order was still open.
UPDATE subscriptions SET unpaid_periods = greatest(0, unpaid_periods - undecided.periods)
FROM (
  SELECT charges.subscription_id AS id, count(*)::integer AS periods FROM charges
  JOIN attempts ON attempts.subscription_id = charges.subscription_id AND attempts.period_index = charges.period_index
  JOIN subscriptions ON subscriptions.id = charges.subscription_id
  WHERE charges.status = 'skipped' AND attempts.status = 'open' AND attempts.reason IS NULL AND charges.period_index > last_paid_index
  GROUP BY charges.subscription_id) AS undecided
WHERE subscriptions.id = undecided.id AND status IN ('active', 'past_due');
