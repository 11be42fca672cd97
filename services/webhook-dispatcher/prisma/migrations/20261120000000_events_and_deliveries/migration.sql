-- Our copy of what merchants set at the gateway; the newest version stands.
CREATE TABLE merchants (
  id uuid PRIMARY KEY,
  version integer NOT NULL,
  webhook_url text,
  sealed_webhook_secret text NOT NULL,
  sealed_pending_webhook_secret text,
  pending_webhook_secret_activates_at timestamptz(3)
);

-- What happened, in the bytes that merchants receive. The id is the bus event's own: this key is the inbox.
CREATE TABLE events (
  id uuid PRIMARY KEY,
  merchant_id uuid NOT NULL,
  merchant_version integer NOT NULL,
  type text NOT NULL,
  body bytea NOT NULL,
  -- True while our copy of the merchant is missing or older than the version the event was decided under.
  waiting boolean NOT NULL,
  occurred_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX events_merchant ON events (merchant_id, id DESC);
CREATE INDEX events_merchant_type ON events (merchant_id, type, id DESC);
CREATE INDEX events_merchant_time ON events (merchant_id, created_at);
CREATE INDEX events_age ON events (created_at);
CREATE INDEX events_waiting ON events (created_at) WHERE waiting;

-- One telling of one event. No foreign keys: the hot path would pay for them, and rows leave by the retention job only, all three kinds together.
CREATE TABLE deliveries (
  id uuid PRIMARY KEY,
  event_id uuid NOT NULL,
  merchant_id uuid NOT NULL,
  event_type text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'in_flight', 'delivered', 'dead')),
  -- Attempts made of the seven; losses of workers in mid-attempt; rows in attempts.
  attempts smallint NOT NULL DEFAULT 0,
  losses smallint NOT NULL DEFAULT 0,
  tries smallint NOT NULL DEFAULT 0,
  next_attempt_at timestamptz CHECK ((next_attempt_at IS NOT NULL) = (status = 'pending')),
  lease_token uuid CHECK ((lease_token IS NOT NULL) = (status = 'in_flight')),
  lease_until timestamptz,
  last_http_status smallint,
  last_error_code text,
  last_error text,
  dead_reason text CHECK ((dead_reason IS NOT NULL) = (status = 'dead')),
  replay_of uuid,
  delivered_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX deliveries_event ON deliveries (event_id) WHERE replay_of IS NULL;
CREATE INDEX deliveries_event_replay ON deliveries (event_id) WHERE replay_of IS NOT NULL;
-- At most one replay of a delivery is on its way.
CREATE UNIQUE INDEX deliveries_replay ON deliveries (replay_of) WHERE replay_of IS NOT NULL AND status IN ('pending', 'in_flight');
CREATE INDEX deliveries_merchant ON deliveries (merchant_id, id DESC);
CREATE INDEX deliveries_merchant_type ON deliveries (merchant_id, event_type, id DESC);
CREATE INDEX deliveries_merchant_dead ON deliveries (merchant_id, id DESC) WHERE status = 'dead';
-- A lane is served from these two: first attempts go before retries.
CREATE INDEX deliveries_first ON deliveries (merchant_id, next_attempt_at) WHERE status = 'pending' AND attempts = 0;
CREATE INDEX deliveries_retry ON deliveries (merchant_id, next_attempt_at) WHERE status = 'pending' AND attempts > 0;
CREATE INDEX deliveries_lease ON deliveries (lease_until) WHERE status = 'in_flight';

CREATE TABLE attempts (
  delivery_id uuid NOT NULL,
  ordinal smallint NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('delivered', 'failed')),
  http_status smallint,
  error_code text,
  response_snippet text,
  started_at timestamptz(3) NOT NULL,
  duration_ms integer NOT NULL,
  PRIMARY KEY (delivery_id, ordinal)
);

-- One row per merchant: whoever leases the lane sends this merchant's deliveries, and nobody else does.
CREATE TABLE lanes (
  merchant_id uuid PRIMARY KEY,
  -- 0 has first attempts, 1 has retries only, 2 is slow or failing.
  class smallint NOT NULL,
  -- When the lane is next looked at; while it is leased, the end of the lease; NULL while nothing is scheduled.
  turn_at timestamptz,
  lease_token uuid,
  fail_streak integer NOT NULL DEFAULT 0,
  -- Counts what made the lane due, so that a release with an older view of it takes nothing back.
  arrivals bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);
CREATE INDEX lanes_turn ON lanes (class, turn_at) WHERE turn_at IS NOT NULL;

-- UUIDv7, for rows that are made by a statement and not by the service; PostgreSQL has its own only from version 18 on.
CREATE FUNCTION new_id() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid
$$;

-- Makes lanes due now. A leased lane is left to its holder, who sees by the arrivals that there is more.
CREATE FUNCTION touch_lanes(merchant_ids uuid[]) RETURNS void LANGUAGE sql VOLATILE AS $$
  INSERT INTO lanes AS lane (merchant_id, class, turn_at, arrivals)
  SELECT DISTINCT merchant_id, 0, now(), 1 FROM unnest(merchant_ids) AS merchant_id ORDER BY merchant_id
  ON CONFLICT (merchant_id) DO UPDATE SET
    arrivals = lane.arrivals + 1,
    class = CASE WHEN lane.class = 2 THEN 2 ELSE 0 END,
    turn_at = CASE WHEN lane.lease_token IS NOT NULL AND lane.turn_at > now() THEN lane.turn_at ELSE least(lane.turn_at, now()) END
$$;
