-- What was asked for and orders has not answered yet: a merchant has only so many of these at once.
DROP INDEX CONCURRENTLY IF EXISTS attempts_unanswered;
CREATE INDEX CONCURRENTLY attempts_unanswered ON attempts (issued_at) WHERE status = 'open' AND reason = 'requested';
