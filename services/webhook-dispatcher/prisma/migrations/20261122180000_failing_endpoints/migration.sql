-- What the dispatcher publishes itself: that an endpoint fails.
CREATE TABLE outbox (
  id uuid PRIMARY KEY,
  type text NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  claimed_until timestamptz,
  sent_at timestamptz
);
CREATE INDEX outbox_unsent ON outbox (created_at) WHERE sent_at IS NULL;
ALTER TABLE outbox SET (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_threshold = 1000, autovacuum_analyze_scale_factor = 0.01);
-- The relay's retention covers both; here the key of events is the inbox, and this one stays empty.
CREATE TABLE inbox (
  event_id uuid PRIMARY KEY,
  received_at timestamptz NOT NULL DEFAULT now()
);

-- Deliveries that are dead and of which no notice was published yet: written with what made them dead, whichever statement and release that was.
CREATE TABLE dead_notices (
  delivery_id uuid PRIMARY KEY,
  merchant_id uuid NOT NULL,
  endpoint_id uuid NOT NULL
);
CREATE FUNCTION note_dead_delivery() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO dead_notices VALUES (NEW.id, NEW.merchant_id, coalesce(NEW.endpoint_id, NEW.merchant_id)) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER deliveries_dead AFTER UPDATE OF status ON deliveries FOR EACH ROW
  WHEN (NEW.status = 'dead' AND OLD.status <> 'dead') EXECUTE FUNCTION note_dead_delivery();

-- The failure that was published last.
ALTER TABLE lanes ADD COLUMN failing_noticed timestamptz(3);
CREATE INDEX lanes_failing ON lanes (failing_since) WHERE failing_since IS NOT NULL;
