-- The rates by which entries are valued when they are read: our own median, about one a minute, and the central bank's PTAX by day. No row is ever changed, so that an
-- entry keeps its value.
CREATE TABLE market_rates (
  at timestamptz(3) PRIMARY KEY,
  rate_micros bigint NOT NULL CHECK (rate_micros > 0)
);
CREATE TABLE ptax_rates (
  day date PRIMARY KEY,
  rate_micros bigint NOT NULL CHECK (rate_micros > 0)
);
