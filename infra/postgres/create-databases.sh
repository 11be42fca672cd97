#!/bin/sh
# Runs once, when PostgreSQL's folder is empty: a database of its own for each service, and a role that can reach no other.
set -eu
create() {
  psql --set ON_ERROR_STOP=1 --set name="$1" --set password="$2" --username "$POSTGRES_USER" <<'SQL'
CREATE ROLE :"name" LOGIN PASSWORD :'password';
CREATE DATABASE :"name" OWNER :"name";
REVOKE ALL ON DATABASE :"name" FROM PUBLIC;
SQL
}
create api_gateway "$API_GATEWAY_DB_PASSWORD"
create orders "$ORDERS_DB_PASSWORD"
create subscriptions "$SUBSCRIPTIONS_DB_PASSWORD"
create chain_listener "$CHAIN_LISTENER_DB_PASSWORD"
create webhook_dispatcher "$WEBHOOK_DISPATCHER_DB_PASSWORD"
