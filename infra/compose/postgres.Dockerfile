# PostgreSQL with its backup tool, from the package source that the official image brings: the server's own process hands out its log.
FROM postgres:18.4-bookworm
RUN apt-get update && apt-get install --yes --no-install-recommends pgbackrest && rm -rf /var/lib/apt/lists/*
COPY --chmod=755 backup.sh restore.sh /usr/local/bin/
# What a volume that is new takes its owner from.
RUN install --directory --owner=postgres --group=postgres --mode=700 /backup /restore && install --directory --owner=postgres --group=postgres --mode=755 /metrics
