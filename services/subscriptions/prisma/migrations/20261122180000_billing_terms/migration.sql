ALTER TABLE subscriptions
  ADD COLUMN trial_periods integer NOT NULL DEFAULT 0 CHECK (trial_periods >= 0),
  ADD COLUMN max_periods_counts text NOT NULL DEFAULT 'payments' CHECK (max_periods_counts IN ('payments', 'periods')),
  ADD COLUMN cancel_at timestamptz(3),
  -- The latest period whose charge was announced.
  ADD COLUMN upcoming_index integer NOT NULL DEFAULT -1,
  -- How long before a charge it is announced; null is the deployment's setting.
  ADD COLUMN upcoming_notice_s integer CHECK (upcoming_notice_s >= 0);

-- When the merchant's new terms took the place of this order.
ALTER TABLE attempts ADD COLUMN replaced_at timestamptz(3);
