-- The sums of entries by day of UTC: a period of months, and all that was before one, is made of days, and of quarters of an hour at its ends alone.
CREATE TABLE entry_day_sums (
  merchant_id uuid NOT NULL,
  day timestamptz(3) NOT NULL,
  kind text NOT NULL,
  movements integer NOT NULL,
  units numeric(38, 0) NOT NULL,
  brl_centavos numeric(38, 0) NOT NULL,
  PRIMARY KEY (merchant_id, day, kind)
);

-- In a trigger, so that what replicas of the release before book is in it too. Made before the table is filled: it waits for the bookings under way, and later ones for it.
CREATE FUNCTION sum_days() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO entry_day_sums AS known
  SELECT merchant_id, date_trunc('day', at, 'UTC'), kind, sum(CASE WHEN reverses IS NULL THEN 1 ELSE -1 END), sum(units), coalesce(sum(brl_centavos), 0)
  FROM booked GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (merchant_id, day, kind) DO UPDATE SET movements = known.movements + EXCLUDED.movements, units = known.units + EXCLUDED.units,
    brl_centavos = known.brl_centavos + EXCLUDED.brl_centavos;
  RETURN NULL;
END $$;
CREATE TRIGGER sum_days AFTER INSERT ON entries REFERENCING NEW TABLE AS booked FOR EACH STATEMENT EXECUTE FUNCTION sum_days();

INSERT INTO entry_day_sums
SELECT merchant_id, date_trunc('day', quarter, 'UTC'), kind, sum(movements), sum(units), sum(brl_centavos) FROM entry_sums GROUP BY 1, 2, 3;
ANALYZE entry_day_sums;
