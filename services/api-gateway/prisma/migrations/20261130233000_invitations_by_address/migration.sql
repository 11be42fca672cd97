-- Invitations to one address are counted over all merchants. Concurrently, because every change of an account writes mails.
DROP INDEX CONCURRENTLY IF EXISTS mails_address_created_at_idx;
CREATE INDEX CONCURRENTLY mails_address_created_at_idx ON mails (address, created_at);
