-- Orders whose end was not reported are counted at every scrape, and all that were ever asked for are many.
DROP INDEX CONCURRENTLY IF EXISTS attempts_undecided;
CREATE INDEX CONCURRENTLY attempts_undecided ON attempts (ends_at) WHERE status = 'open';
