-- Read with every order that is judged; the leases that have ended without a loss are many, in time.
CREATE INDEX chain_leases_deciding ON chain_leases (chain_id, generation) WHERE ended_version IS NULL OR seen_version > ended_version;
