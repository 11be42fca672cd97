-- The release before cannot read these: listener and orders are replaced together (docs/operating/upgrade.md).

-- A history begins anew (`generation`) whenever this database may have lost its future: `server` is PostgreSQL's system identifier and timeline,
-- `version` counts the commits of a generation, and every commit names the one before it.
ALTER TABLE chain_cursor ADD COLUMN generation uuid;
ALTER TABLE chain_cursor ADD COLUMN version bigint NOT NULL DEFAULT 0;
ALTER TABLE chain_cursor ADD COLUMN since bigint;
ALTER TABLE chain_cursor ADD COLUMN server text;
-- The generation and lease that orders follows by its last `chain.followed`, and from where it misses confirmed blocks.
ALTER TABLE chain_cursor ADD COLUMN followed_confirmed bigint;
ALTER TABLE chain_cursor ADD COLUMN republish_from bigint;
ALTER TABLE chain_cursor DROP COLUMN sequence;

-- Every lease that was given out, with the versions before its first commit and of its last; the last is NULL while it is held.
CREATE TABLE leases (
  chain_id bigint NOT NULL,
  marker uuid NOT NULL,
  generation uuid NOT NULL,
  from_version bigint NOT NULL,
  version bigint,
  taken_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, marker)
);
CREATE INDEX leases_by_generation ON leases (chain_id, generation, from_version);

-- What happened is where it stands on the chain. Of two rows at one place, of which a node had invented one, what is live stays.
DELETE FROM payments AS twin USING payments AS kept
WHERE twin.chain_id = kept.chain_id AND twin.block_hash = kept.block_hash AND twin.log_index = kept.log_index AND twin.ctid <> kept.ctid
  AND (twin.state = 'orphaned', twin.ordinal, twin.tx_hash) > (kept.state = 'orphaned', kept.ordinal, kept.tx_hash);
ALTER TABLE payments DROP CONSTRAINT payments_pkey, ADD PRIMARY KEY (chain_id, block_hash, log_index);
ALTER TABLE payments DROP COLUMN ordinal, DROP COLUMN revision;

-- Which blocks were read for whom: a router, a deposit address, or `transfers` for those to all addresses. What lies before the first block in which an
-- address can have been paid counts as read. A rescan takes blocks away; everything is read when nothing is missing.
CREATE TABLE coverage (
  chain_id bigint NOT NULL,
  subject text NOT NULL,
  blocks int8multirange NOT NULL,
  PRIMARY KEY (chain_id, subject)
);
CREATE INDEX coverage_gaps ON coverage (lower('{(,)}'::int8multirange - blocks)) WHERE blocks <> '{(,)}'::int8multirange;
CREATE INDEX coverage_unfollowed ON coverage (chain_id) WHERE NOT upper_inf(blocks);
INSERT INTO coverage SELECT chain_id, address, int8multirange(int8range(NULL, late_scanned + 1)) FROM routers;
INSERT INTO coverage SELECT DISTINCT chain_id, 'transfers', '{(,)}'::int8multirange FROM routers;
UPDATE coverage SET blocks = coverage.blocks - again.blocks FROM (
  SELECT chain_id, range_agg(int8range(greatest(read_to + 1, from_block), to_block, '[]')) AS blocks FROM rescans WHERE read_to < to_block GROUP BY chain_id) AS again
WHERE again.chain_id = coverage.chain_id;
INSERT INTO coverage SELECT chain_id, address, int8multirange(int8range(NULL, CASE WHEN NOT bool_and(synced) THEN min(read_to) FILTER (WHERE NOT synced) + 1 END))
  FROM payables WHERE address IS NOT NULL GROUP BY chain_id, address ON CONFLICT DO NOTHING;
DROP TABLE routers;
DROP TABLE rescans;

-- `asked` counts the questions of orders whether an order is watched, `answered` those answered; `doubted` ones are answered first.
DROP INDEX payables_unsynced;
ALTER TABLE payables DROP COLUMN synced, DROP COLUMN read_to;
ALTER TABLE payables ADD COLUMN asked integer NOT NULL DEFAULT 0;
ALTER TABLE payables ADD COLUMN answered integer NOT NULL DEFAULT 0;
ALTER TABLE payables ADD COLUMN doubted boolean NOT NULL DEFAULT false;
CREATE INDEX payables_asked ON payables (chain_id) WHERE asked > answered;
CREATE INDEX payables_by_memo ON payables (chain_id, memo);

-- No reader is left for them; the new generation publishes their facts again.
DELETE FROM outbox WHERE sent_at IS NULL
  AND (type LIKE 'payment.%' OR type LIKE 'sweep.%' OR type IN ('deposit.synced', 'deposit.blocked', 'chain.advanced', 'chain.audited'));
UPDATE payables SET blocked_published = 0 WHERE blocked_revision > 0;
