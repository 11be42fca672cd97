-- One row and one state per charge, changed by UPDATE: a charge and its withdrawal wait for each other by its key, whichever commits first.
CREATE TABLE charges (
  order_id uuid PRIMARY KEY,
  state text NOT NULL CHECK (state IN ('waiting', 'opened', 'withdrawn', 'lapsed', 'refused')),
  created_at timestamptz NOT NULL DEFAULT now(),
  merchant_id uuid,
  request text,
  reason text,
  tries integer NOT NULL DEFAULT 0,
  next_try_at timestamptz,
  ends_at timestamptz,
  CHECK (state <> 'waiting' OR (merchant_id IS NOT NULL AND request IS NOT NULL AND next_try_at IS NOT NULL AND ends_at IS NOT NULL))
);
CREATE INDEX charges_created_at_idx ON charges (created_at);
CREATE INDEX charges_waiting ON charges (next_try_at) WHERE state = 'waiting';
CREATE INDEX charges_waiting_merchant ON charges (merchant_id) WHERE state = 'waiting';
ALTER TABLE charges SET (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_threshold = 1000, autovacuum_analyze_scale_factor = 0.01);

INSERT INTO charges (order_id, state, created_at) SELECT order_id, outcome, created_at FROM charge_outcomes;
INSERT INTO charges (order_id, state, created_at, merchant_id, request, reason, tries, next_try_at, ends_at)
SELECT order_id, 'waiting', created_at, coalesce(merchant_id, (request::jsonb #>> '{terms,merchant_id}')::uuid), request, reason, tries, next_try_at,
  coalesce(ends_at, created_at + make_interval(secs => (request::jsonb ->> 'expires_in')::int))
FROM waiting_charges ON CONFLICT DO NOTHING;
DELETE FROM waiting_charges;

-- A replica of the release before still writes the two tables that were: its rows become the one row, and what is settled refuses it by the key it knows.
CREATE FUNCTION charge_of_release_before() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO charges (order_id, state, created_at, merchant_id, request, reason, next_try_at, ends_at)
  VALUES (NEW.order_id, 'waiting', NEW.created_at, coalesce(NEW.merchant_id, (NEW.request::jsonb #>> '{terms,merchant_id}')::uuid), NEW.request, NEW.reason, now(),
    coalesce(NEW.ends_at, NEW.created_at + make_interval(secs => (NEW.request::jsonb ->> 'expires_in')::int)))
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER charge_of_release_before BEFORE INSERT ON waiting_charges FOR EACH ROW EXECUTE FUNCTION charge_of_release_before();

CREATE FUNCTION outcome_of_release_before() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO charges AS known (order_id, state) VALUES (NEW.order_id, NEW.outcome)
  ON CONFLICT (order_id) DO UPDATE SET state = EXCLUDED.state WHERE known.state = 'waiting';
  IF NOT FOUND THEN RAISE unique_violation USING CONSTRAINT = 'charge_outcomes_pkey'; END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER outcome_of_release_before BEFORE INSERT ON charge_outcomes FOR EACH ROW EXECUTE FUNCTION outcome_of_release_before();
