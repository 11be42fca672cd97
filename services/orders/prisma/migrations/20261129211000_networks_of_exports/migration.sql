-- A file of the entries of one network; null for those of all.
ALTER TABLE exports ADD COLUMN chain_id int;
