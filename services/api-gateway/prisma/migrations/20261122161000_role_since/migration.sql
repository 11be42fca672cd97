-- When a member was given another role: a new owner does not approve changes of the payout address yet.
ALTER TABLE members ADD COLUMN role_since timestamptz(3);
