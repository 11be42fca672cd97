#!/usr/bin/env bash
# Puts databases back to a moment, from backups, beside the live ones: nothing that lives is written to, and what is replaced is kept under another name.
#   restore prepare DATABASE MOMENT    reads the backup beside the live server, checks it, and leaves it there as DATABASE_restored
#   restore swap DATABASE              DATABASE becomes DATABASE_before, DATABASE_restored becomes DATABASE: one transaction; its service stands still
#   restore back DATABASE              the other way round
#   restore drop DATABASE              removes DATABASE_before and DATABASE_restored
#   restore prepare|swap|back|drop all [MOMENT | latest]      the same with the folder of the whole server, which is stopped for swap and back
# Each can be repeated, after a failure at any line too. infra/compose/ops calls it in the right order.
set -euo pipefail
shopt -s inherit_errexit

data=${PGDATA:-/var/lib/postgresql/18/docker}
settings=${SERVER_SETTINGS:-/etc/postgresql/ponte.conf}
copies=${RESTORE_FOLDER:-/restore}
export PGHOST=${PGHOST:-/var/run/postgresql} PGUSER=postgres PGDATABASE=postgres PGOPTIONS='-c statement_timeout=0'
wait_s=${RESTORE_WAIT_S:-7200}
# The image makes the folder above the server's as root; what is exchanged there by name is the server's.
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$(dirname "$data")"
  chown postgres "$(dirname "$data")"
  exec setpriv --reuid postgres --regid postgres --init-groups "$0" "$@"
fi
services='api_gateway orders subscriptions chain_listener webhook_dispatcher'

refuse() {
  echo "$*" >&2
  exit 1
}
sql() { psql --no-psqlrc --tuples-only --no-align --quiet --set ON_ERROR_STOP=1 --command "$2" "$1"; }
exists() { [ "$(sql postgres "SELECT count(*) FROM pg_database WHERE datname = '$1'")" = 1 ]; }
rows_of() {
  # Unlogged tables are in no backup, and are not to be read before a copy is promoted.
  sql "$1" "SELECT format('%I.%I', nspname, relname) || ' ' ||
    (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM %I.%I', nspname, relname), false, true, '')))[1]::text
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE relkind = 'r' AND relpersistence = 'p' AND nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"
}
sum() { awk '{ n += $2 } END { print n + 0 }'; }
live_answers() { pg_isready --quiet; }
# The history that lives: after a return from a restore the archive holds a newer one that nothing goes on from. A server that was made anew on this machine knows nothing of it.
living_timeline() {
  local control known server timeline
  if [ -n "${RESTORE_TIMELINE:-}" ]; then
    echo "$RESTORE_TIMELINE"
    return
  fi
  if live_answers; then
    # Its files know of a promotion from the next checkpoint on.
    server=$(sql postgres 'SELECT system_identifier FROM pg_control_system()')
    timeline=$(sql postgres "SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int")
  else
    control=$(pg_controldata "$data" 2>/dev/null || true)
    server=$(sed -n 's/^Database system identifier: *//p' <<<"$control")
    timeline=$(sed -n "s/^Latest checkpoint's TimeLineID: *//p" <<<"$control")
  fi
  known=$(pgbackrest --stanza=ponte info --output=json)
  if [ -n "$server" ] && grep -q "\"system-id\":$server[,}]" <<<"$known"; then echo "$timeline"; else echo latest; fi
}

moment_in_the_past() {
  local seconds
  seconds=$(date --date "$1" +%s) || refuse "Not a moment: $1. Write it as 2026-11-22 14:00:00+00."
  [ "$seconds" -lt "$(date +%s)" ] || refuse "$1 is not in the past."
}

room_in() {
  local free
  free=$(df --output=avail --block-size=1M "$1" | tail -n 1)
  [ "$free" -gt "$2" ] || refuse "$1 has $free MB free; the copy needs $2 MB."
}

# A moment is reached when the log has something after it, and a segment can be read once it is archived.
hand_out_the_log() {
  sql postgres "SELECT pg_logical_emit_message(true, 'restore', 'a restore begins')" >/dev/null
  pgbackrest --stanza=ponte check || echo 'The archive takes no log now; a moment after the last that it took is not reached.' >&2
}

beside=
stop_beside() {
  if [ -n "$beside" ] && [ -f "$beside/postmaster.pid" ]; then pg_ctl --pgdata "$beside" --wait --mode immediate stop >/dev/null || true; fi
}
trap stop_beside EXIT

# Starts a server on the copy which nothing but this script reaches, and returns when it stands at the moment. It is not promoted: a timeline that is not archived would
# mislead the next restore.
start_beside() {
  local folder=$1 moment=$2 socket=$3 last='' now='' state
  beside=$folder
  local same=0
  if [ "$moment" = latest ]; then touch "$folder/standby.signal"; fi
  local fetch="pgbackrest --stanza=ponte --pg1-path=$folder archive-get %f \"%p\""
  pg_ctl --pgdata "$folder" --wait --timeout "$wait_s" --log "$socket/log" --options "-c config_file='$settings' -c listen_addresses= -c port=5432 \
    -c unix_socket_directories='$socket' -c archive_mode=off -c hot_standby=on -c recovery_target_action=pause -c wal_retrieve_retry_interval=1s \
    -c restore_command='$fetch'" start >/dev/null || {
    tail -n 20 "$socket/log" >&2
    refuse 'The copy does not start: see above.'
  }
  for ((waited = 0; waited < wait_s; waited++)); do
    state=$(PGHOST=$socket PGPORT=5432 sql postgres 'SELECT pg_get_wal_replay_pause_state()') || {
      tail -n 20 "$socket/log" >&2
      refuse 'The copy ended before its moment: see above.'
    }
    if [ "$state" = paused ]; then return; fi
    if [ "$moment" = latest ]; then
      now=$(PGHOST=$socket PGPORT=5432 sql postgres 'SELECT pg_last_wal_replay_lsn()')
      # No segment came for five looks, each longer than the server waits before it asks the archive again.
      if [ "$now" = "$last" ]; then same=$((same + 1)); else same=0; fi
      if [ "$same" -ge 5 ]; then return; fi
      last=$now
    fi
    sleep 1
  done
  refuse "The copy did not reach its moment in $wait_s s."
}

one_of_ours() {
  [[ "$1" =~ ^[a-z][a-z_]{0,40}(_[0-9])?$ && ! "$1" =~ ^(postgres|template.*|.*_(before|restored|restoring))$ ]] || refuse "Not a database of a service: $1."
}

prepare_one() {
  local database=$1 moment=$2 work live copied size_mb timeline
  one_of_ours "$database"
  moment_in_the_past "$moment"
  live_answers || refuse 'The live server does not answer; with none, restore all.'
  exists "$database" || refuse "The live server has no database $database."
  if exists "${database}_restored"; then refuse "${database}_restored is there already: swap it in, or drop it."; fi
  if exists "${database}_before"; then refuse "${database}_before is there still, of an earlier restore: go back, or drop it."; fi
  size_mb=$(sql postgres "SELECT pg_database_size('$database') / 1048576 + 64")
  room_in "$data" "$size_mb"
  room_in "$copies" "$((3 * size_mb))"
  hand_out_the_log
  # What a run that broke off left.
  rm -rf "${copies:?}"/restoring
  work=$copies/restoring
  mkdir "$work"
  mkdir -m 700 "$work/data"
  timeline=$(living_timeline)
  pgbackrest --stanza=ponte --pg1-path="$work/data" --db-include="$database" --type=time --target="$moment" --target-action=promote \
    --target-timeline="$timeline" restore
  start_beside "$work/data" "$moment" "$work"
  PGHOST=$work PGPORT=5432 rows_of "$database" >"$work/rows"
  [ "$(sum <"$work/rows")" -gt 0 ] || refuse "$database has no row at $moment."
  PGHOST=$work PGPORT=5432 pg_dump --no-unlogged-table-data --format custom --file "$work/dump" "$database"
  pg_restore --list "$work/dump" >"$work/list"
  local tables
  tables=$(grep -c ' TABLE DATA ' "$work/list") || refuse 'The dump names no table.'
  [ "$tables" = "$(wc -l <"$work/rows")" ] || refuse "The dump has $tables tables, the copy $(wc -l <"$work/rows")."
  sql postgres "DROP DATABASE IF EXISTS ${database}_restoring"
  sql postgres "CREATE DATABASE ${database}_restoring TEMPLATE template0 OWNER $(sql postgres "SELECT quote_ident(pg_get_userbyid(datdba)) FROM pg_database WHERE datname = '$database'")"
  sql postgres "REVOKE ALL ON DATABASE ${database}_restoring FROM PUBLIC"
  sql postgres "SELECT format('GRANT %s ON DATABASE ${database}_restoring TO %s', privilege_type, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
    FROM pg_database, aclexplode(datacl) WHERE datname = '$database'" >"$work/grants"
  while read -r grant; do sql postgres "$grant"; done <"$work/grants"
  pg_restore --exit-on-error --single-transaction --dbname "${database}_restoring" "$work/dump"
  copied=$(rows_of "${database}_restoring")
  [ "$copied" = "$(cat "$work/rows")" ] || refuse 'The copy in the live server has other rows than the backup.'
  live=$(rows_of "$database")
  stop_beside
  rm -rf "${copies:?}"/restoring
  sql postgres "ALTER DATABASE ${database}_restoring RENAME TO ${database}_restored"
  echo "${database}_restored is $database at $moment. Rows there, and live now:"
  join -a 1 -a 2 -e - -o 0,1.2,2.2 <(echo "$copied") <(echo "$live") | awk '{ printf "  %-50s %10s %10s\n", $1, $2, $3 }'
}

renamed() { sql postgres "BEGIN; ALTER DATABASE $1 RENAME TO $2; ALTER DATABASE $3 RENAME TO $1; COMMIT" || refuse "Nothing was changed. Stop the service of $1 first."; }

swap_one() {
  one_of_ours "$1"
  exists "${1}_restored" || refuse "There is no ${1}_restored: prepare it first."
  renamed "$1" "${1}_before" "${1}_restored"
  echo "$1 is the restored one now; the one before is kept as ${1}_before."
}

back_one() {
  one_of_ours "$1"
  exists "${1}_before" || refuse "There is no ${1}_before to go back to."
  renamed "$1" "${1}_restored" "${1}_before"
  # Changes that wait in it may have been cancelled since in the restored one.
  if [ "$1" = api_gateway ] && [ -n "$(sql "$1" "SELECT to_regclass('history')")" ]; then sql "$1" "UPDATE history SET name = 'put aside'"; fi
  echo "$1 is the one from before again; the restored one is kept as ${1}_restored."
}

drop_one() {
  one_of_ours "$1"
  exists "$1" || refuse "There is no $1: nothing is removed."
  local suffix
  for suffix in before restored restoring; do sql postgres "DROP DATABASE IF EXISTS ${1}_$suffix"; done
  echo "Of $1 the live database alone is left."
}

prepare_all() {
  local moment=$1 target database timeline restored=$data-restored work=$data-restoring
  [ "$moment" = latest ] || moment_in_the_past "$moment"
  if [ -e "$restored" ]; then refuse "$restored is there already: swap it in, or drop it."; fi
  if [ -e "$data-before" ]; then refuse "$data-before is there still, of an earlier restore: go back, or drop it."; fi
  if [ -d "$data" ]; then room_in "$(dirname "$data")" "$(du --summarize --block-size=1M "$data" | cut -f 1)"; fi
  if live_answers; then hand_out_the_log; fi
  rm -rf "${data:?}-restoring" "${copies:?}"/restoring
  mkdir -m 700 "$work" "$copies/restoring"
  target=(--type=time --target="$moment" --target-action=promote)
  if [ "$moment" = latest ]; then target=(--type=default); fi
  timeline=$(living_timeline)
  PGBACKREST_PG1_PATH=$work pgbackrest --stanza=ponte "${target[@]}" --target-timeline="$timeline" restore
  start_beside "$work" "$moment" "$copies/restoring"
  for database in $services; do
    PGHOST=$copies/restoring PGPORT=5432 rows_of "$database" >"$copies/restoring/$database"
    [ -s "$copies/restoring/$database" ] || refuse "$database has no table at $moment."
    echo "$database: $(sum <"$copies/restoring/$database") rows at $moment"
  done
  pg_ctl --pgdata "$work" --wait --mode fast stop >/dev/null
  rm -rf "$work/standby.signal" "${copies:?}"/restoring
  # The server fetches its log by the place where it will stand.
  sed -i "s|$work|$data|g" "$work/postgresql.auto.conf"
  mv --no-target-directory "$work" "$restored"
  echo "$restored is the whole server at $moment."
}

server_stands_still() {
  if live_answers; then refuse 'The server runs. Stop it first.'; fi
}

swap_folders() {
  local from=$1 to=$2
  server_stands_still
  [ -f "$from/PG_VERSION" ] || refuse "There is no $from: nothing is changed."
  # A run that broke off between its two renames has no live folder, and goes on with the second.
  if [ -d "$data" ]; then
    [ ! -e "$to" ] || refuse "$to is there still, of an earlier restore: go back, or drop it."
    mv --no-target-directory "$data" "$to"
  fi
  mv --no-target-directory "$from" "$data"
  echo "$data is what $from was; what it was before is $to."
}

drop_all() {
  [ -f "$data/PG_VERSION" ] && live_answers || refuse "$data has no server that answers: nothing is removed."
  rm -rf "${data:?}"-before "${data:?}"-restored "${data:?}"-restoring
  echo "$data alone is left."
}

case "${1:-} ${2:-}" in
'prepare all') prepare_all "${3:?to which moment?}" ;;
'swap all') swap_folders "$data-restored" "$data-before" ;;
'back all') swap_folders "$data-before" "$data-restored" ;;
'drop all') drop_all ;;
prepare\ ?*) prepare_one "$2" "${3:?to which moment?}" ;;
swap\ ?*) swap_one "$2" ;;
back\ ?*) back_one "$2" ;;
drop\ ?*) drop_one "$2" ;;
*)
  sed -n '2,8s/^# //p' "$0"
  exit 2
  ;;
esac
