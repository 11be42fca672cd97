-- Entries are valued by these rates whenever they are read, so that a rate that changed would change the past. Each has a hash of itself from its first moment on,
-- by which an auditor names one that was changed by a hand that went round the triggers.
ALTER TABLE market_rates ADD COLUMN seal text;
ALTER TABLE ptax_rates ADD COLUMN seal text;

CREATE FUNCTION seal_rate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  NEW.seal := encode(sha256(convert_to(
    CASE TG_TABLE_NAME WHEN 'ptax_rates' THEN to_char((to_jsonb(NEW) ->> 'day')::date, 'YYYY-MM-DD')
      ELSE (extract(epoch FROM (to_jsonb(NEW) ->> 'at')::timestamptz) * 1000)::bigint::text END || ' ' || NEW.rate_micros, 'UTF8')), 'hex');
  RETURN NEW;
END $$;
CREATE TRIGGER seal_rate BEFORE INSERT OR UPDATE ON market_rates FOR EACH ROW WHEN (NEW.seal IS NULL) EXECUTE FUNCTION seal_rate();
CREATE TRIGGER seal_rate BEFORE INSERT OR UPDATE ON ptax_rates FOR EACH ROW WHEN (NEW.seal IS NULL) EXECUTE FUNCTION seal_rate();
-- Rates that are there already: one a minute of the days since rates are kept.
UPDATE market_rates SET seal = NULL;
UPDATE ptax_rates SET seal = NULL;

CREATE FUNCTION rates_stand() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'rates are never changed: entries are valued by them';
END $$;
CREATE TRIGGER rates_stand BEFORE UPDATE OR DELETE ON market_rates FOR EACH STATEMENT EXECUTE FUNCTION rates_stand();
CREATE TRIGGER rates_stand BEFORE UPDATE OR DELETE ON ptax_rates FOR EACH STATEMENT EXECUTE FUNCTION rates_stand();
