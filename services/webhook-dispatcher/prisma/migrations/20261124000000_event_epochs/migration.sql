-- In which epoch a merchant's events were numbered, from `first` on: one of a server's lives, until it starts again or is put back. Those of before are of one.
CREATE TABLE event_epochs (
  merchant_id uuid NOT NULL,
  first bigint NOT NULL,
  epoch text NOT NULL,
  PRIMARY KEY (merchant_id, first)
);
INSERT INTO event_epochs (merchant_id, first, epoch) SELECT merchant_id, 1, left(md5(gen_random_uuid()::text), 16) FROM event_sequences;
