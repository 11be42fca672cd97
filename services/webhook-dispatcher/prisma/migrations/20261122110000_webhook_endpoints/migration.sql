-- Endpoints of a merchant beside their webhook_url. Their lanes, secrets and deliveries are their own; the default endpoint has the merchant's id.
CREATE TABLE endpoints (
  id uuid PRIMARY KEY,
  merchant_id uuid NOT NULL,
  -- One of ten: the unique index below bounds how many there are.
  place smallint NOT NULL CHECK (place BETWEEN 1 AND 10),
  version integer NOT NULL DEFAULT 1,
  url text NOT NULL,
  description text,
  events text[] NOT NULL,
  format text NOT NULL CHECK (format IN ('ponte', 'standard')),
  header_names text[] NOT NULL DEFAULT '{}',
  sealed_headers text,
  max_in_flight smallint CHECK (max_in_flight BETWEEN 1 AND 128),
  paused boolean NOT NULL DEFAULT false,
  sealed_secret text NOT NULL,
  sealed_pending_secret text,
  pending_secret_activates_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3)
);
CREATE UNIQUE INDEX endpoints_place ON endpoints (merchant_id, place) WHERE deleted_at IS NULL;
CREATE INDEX endpoints_merchant ON endpoints (merchant_id);
CREATE INDEX endpoints_deleted ON endpoints (deleted_at) WHERE deleted_at IS NOT NULL;

-- What an event is about, so that its deliveries are found by it.
ALTER TABLE events ADD COLUMN order_id uuid, ADD COLUMN subscription_id uuid;
UPDATE events SET
  order_id = CASE WHEN type LIKE 'order.%' OR type = 'subscription.charged' THEN (data->>'id')::uuid END,
  subscription_id = CASE WHEN type IN ('subscription.cancelled', 'subscription.expired') THEN (data->>'id')::uuid
    ELSE (data->>'subscription_id')::uuid END
FROM (SELECT id AS event_id, convert_from(body, 'UTF8')::json->'data' AS data FROM events) AS told WHERE told.event_id = events.id;
CREATE INDEX events_order ON events (order_id) WHERE order_id IS NOT NULL;
CREATE INDEX events_subscription ON events (subscription_id) WHERE subscription_id IS NOT NULL;

-- NULL is the default endpoint, also in rows that a replica of the release before writes meanwhile.
ALTER TABLE deliveries ADD COLUMN endpoint_id uuid;
ALTER TABLE deliveries DROP CONSTRAINT deliveries_first_id;
ALTER TABLE deliveries ADD CONSTRAINT deliveries_first_id CHECK ((replay_of IS NULL AND endpoint_id IS NULL) = (id = event_id));
CREATE UNIQUE INDEX deliveries_endpoint_event ON deliveries (event_id, endpoint_id) WHERE endpoint_id IS NOT NULL AND replay_of IS NULL;
CREATE INDEX deliveries_endpoint ON deliveries (endpoint_id, id DESC) WHERE endpoint_id IS NOT NULL;
DROP INDEX deliveries_first;
DROP INDEX deliveries_retry;
CREATE INDEX deliveries_first ON deliveries (coalesce(endpoint_id, merchant_id), next_attempt_at) WHERE status = 'pending' AND attempts = 0;
CREATE INDEX deliveries_retry ON deliveries (coalesce(endpoint_id, merchant_id), next_attempt_at) WHERE status = 'pending' AND attempts > 0;

ALTER TABLE attempts ADD COLUMN url text, ADD COLUMN request_headers jsonb;

-- One lane per endpoint. merchant_id equals endpoint_id and is read by the release before only. Class 3 is out of turn: its endpoint is paused.
ALTER TABLE lanes ADD COLUMN endpoint_id uuid, ADD COLUMN failing_since timestamptz(3);
UPDATE lanes SET endpoint_id = merchant_id;
ALTER TABLE lanes DROP CONSTRAINT lanes_pkey;
ALTER TABLE lanes ADD PRIMARY KEY (endpoint_id);
CREATE INDEX lanes_merchant ON lanes (merchant_id);

-- Makes lanes due now. A leased lane is left to its holder, who sees by the arrivals that there is more; a paused one stays out of turn.
DROP FUNCTION touch_lanes(uuid[]);
CREATE FUNCTION touch_lanes(endpoint_ids uuid[]) RETURNS void LANGUAGE sql VOLATILE AS $$
  INSERT INTO lanes AS lane (endpoint_id, merchant_id, class, turn_at, arrivals)
  SELECT DISTINCT endpoint_id, endpoint_id, 0, now(), 1 FROM unnest(endpoint_ids) AS endpoint_id ORDER BY endpoint_id
  ON CONFLICT (endpoint_id) DO UPDATE SET
    arrivals = lane.arrivals + 1,
    class = CASE WHEN lane.class IN (2, 3) THEN lane.class ELSE 0 END,
    turn_at = CASE WHEN lane.lease_token IS NOT NULL AND lane.turn_at > now() THEN lane.turn_at ELSE least(lane.turn_at, now()) END
$$;
