#!/bin/sh
# Begins with a backup, and makes one a day: a full one when the last is a week old, else what changed since. Old ones leave by pgbackrest.conf.
set -eu
pgbackrest --stanza=ponte stanza-create
while :; do
  type=diff
  [ "$(date +%u)" = 7 ] && type=full
  # One that fails is tried again in ten minutes; `pgbackrest info` shows the newest that is whole.
  if pgbackrest --stanza=ponte --type="$type" backup; then sleep 86400; else sleep 600; fi
done
