-- A list of pending entries is read whole by every look: with 50,000 payout addresses, one took 10 ms in place of a fraction of one.
ALTER INDEX payout_addresses_of_networks_idx SET (fastupdate = off);
ALTER INDEX orders_deposit_addresses SET (fastupdate = off);
SELECT gin_clean_pending_list('payout_addresses_of_networks_idx'::regclass), gin_clean_pending_list('orders_deposit_addresses'::regclass);
