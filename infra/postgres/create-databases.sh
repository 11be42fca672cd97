#!/bin/sh
# A database of its own for each service, and a role that can reach no other. Runs once, when PostgreSQL's folder is empty; by hand it makes what is named and is not there, with
# the passwords of its environment: create-databases.sh chain_listener_2
set -eu
user=${POSTGRES_USER:-postgres}
create() {
  eval "password=\${$(echo "$1" | tr '[:lower:]' '[:upper:]')_DB_PASSWORD:-}"
  [ -n "$password" ] || return 0
  [ "$(psql --tuples-only --no-align --username "$user" --command "SELECT count(*) FROM pg_database WHERE datname = '$1'")" = 0 ] || return 0
  psql --set ON_ERROR_STOP=1 --set name="$1" --set password="$password" --username "$user" <<'SQL'
CREATE ROLE :"name" LOGIN PASSWORD :'password';
CREATE DATABASE :"name" OWNER :"name";
REVOKE ALL ON DATABASE :"name" FROM PUBLIC;
SQL
}
# Listeners of further networks have one where they have a password (docs/operating/networks.md).
for each in ${*:-api_gateway orders subscriptions chain_listener webhook_dispatcher chain_listener_2 chain_listener_3}; do create "$each"; done
