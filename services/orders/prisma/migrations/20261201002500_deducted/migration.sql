-- Of what came for an order whose period another one was paid for: the part that that one did not ask for any more. NULL where the release before reported it.
ALTER TABLE orders ADD COLUMN deducted_centavos bigint;
