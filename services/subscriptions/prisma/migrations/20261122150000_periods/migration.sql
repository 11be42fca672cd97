-- What is done about a plan that is not paid; null is the deployment's setting.
ALTER TABLE subscriptions
  ADD COLUMN retry_after_s integer[],
  ADD COLUMN unpaid_periods_max integer CHECK (unpaid_periods_max > 0),
  ADD COLUMN when_unpaid text CHECK (when_unpaid IN ('leave', 'pause', 'cancel')),
  ADD COLUMN unpaid_periods integer NOT NULL DEFAULT 0,
  ADD COLUMN paused_at timestamptz(3),
  -- What is due waits for this; the scheduler looks again when the merchant has it.
  ADD COLUMN awaiting text CHECK (awaiting IN ('payout_address'));
CREATE INDEX subscriptions_awaiting ON subscriptions (merchant_id) WHERE awaiting IS NOT NULL;

-- One row may stand for a gap of many periods. The wording is what the period's orders show; null in rows of the release before.
ALTER TABLE charges
  ADD COLUMN periods integer NOT NULL DEFAULT 1 CHECK (periods > 0),
  ADD COLUMN wording jsonb;

ALTER TABLE attempts
  ADD COLUMN ends_at timestamptz(3),
  -- What the order asks for; null in rows of the release before, which asked for the whole charge.
  ADD COLUMN brl_centavos bigint CHECK (brl_centavos > 0),
  ADD COLUMN received_centavos bigint NOT NULL DEFAULT 0,
  ADD COLUMN received_revision integer NOT NULL DEFAULT 0,
  ADD COLUMN received_order jsonb,
  ADD COLUMN reason text;
