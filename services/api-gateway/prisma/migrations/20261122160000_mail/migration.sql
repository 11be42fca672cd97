-- What a member wants by mail; null is the default of their role and of the language.
ALTER TABLE members ADD COLUMN mail_topics text, ADD COLUMN mail_language text;

-- Mails on their way, written with what they report. The id is the Message-ID of each try.
CREATE TABLE mails (
  id uuid PRIMARY KEY,
  merchant_id uuid NOT NULL,
  address text NOT NULL,
  language text NOT NULL,
  topic text NOT NULL,
  kind text NOT NULL,
  facts jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  due_at timestamptz(3) NOT NULL,
  attempts smallint NOT NULL DEFAULT 0,
  sent_at timestamptz(3),
  abandoned_at timestamptz(3),
  last_error text
);
CREATE INDEX mails_due ON mails (due_at) WHERE sent_at IS NULL AND abandoned_at IS NULL;
CREATE INDEX mails_merchant_id_address_created_at_idx ON mails (merchant_id, address, created_at);
