-- What a merchant did about money that did not settle by itself, in their own words.
ALTER TABLE orders ADD COLUMN handled_note text;
ALTER TABLE handled_payments ADD COLUMN note text;
