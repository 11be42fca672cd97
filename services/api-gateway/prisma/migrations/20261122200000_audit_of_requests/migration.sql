-- Requests that another service answers stand in the log before they are sent there, and their outcome in a row of its own: neither is ever changed.
ALTER TABLE "audit_log" ADD COLUMN "is_request" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "audit_log" ADD COLUMN "target" UUID;

CREATE TABLE "audit_outcomes" (
    "entry_id" UUID NOT NULL,
    "outcome" TEXT NOT NULL,
    "created" UUID,
    "ended_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "audit_outcomes_pkey" PRIMARY KEY ("entry_id"),
    CONSTRAINT "audit_outcomes_entry_id_fkey" FOREIGN KEY ("entry_id") REFERENCES "audit_log"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
);

-- Append-only, as the log itself.
REVOKE UPDATE, DELETE, TRUNCATE ON audit_outcomes FROM PUBLIC, CURRENT_USER;
CREATE TRIGGER audit_outcomes_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_outcomes
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit_log();
