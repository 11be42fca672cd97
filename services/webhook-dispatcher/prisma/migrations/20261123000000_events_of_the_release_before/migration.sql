-- Replicas of the release before write events without a number: they get the next one. A duplicate is left out as their own statement leaves it out, before it
-- takes a number.
CREATE FUNCTION number_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM events WHERE id = NEW.id) THEN
    RETURN NULL;
  END IF;
  INSERT INTO event_sequences AS counter (merchant_id, last) VALUES (NEW.merchant_id, 1)
  ON CONFLICT (merchant_id) DO UPDATE SET last = counter.last + 1
  RETURNING last INTO NEW.sequence;
  RETURN NEW;
END $$;
CREATE TRIGGER events_number BEFORE INSERT ON events FOR EACH ROW WHEN (NEW.sequence IS NULL) EXECUTE FUNCTION number_event();
