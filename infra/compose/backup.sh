#!/bin/sh
# Begins with a backup, and makes one a day: a full one when the last is a week old, else what changed since. Old ones leave by pgbackrest.conf.
set -eu
pgbackrest --stanza=ponte stanza-create
while :; do
  last_full=$(pgbackrest --stanza=ponte info | sed -n 's/^ *full backup: \([0-9]*\)-.*/\1/p' | tail -n 1)
  if [ "${last_full:-0}" -le "$(date -d '7 days ago' +%Y%m%d)" ]; then type=full; else type=diff; fi
  # One that fails is tried again in ten minutes; `pgbackrest info` shows the newest that is whole.
  if pgbackrest --stanza=ponte --type="$type" backup; then
    if [ -d /metrics ]; then
      echo "ponte_backup_last_success_timestamp_seconds $(date +%s)" > /metrics/backup.new
      mv /metrics/backup.new /metrics/backup.prom
    fi
    sleep 86400
  else sleep 600; fi
done
