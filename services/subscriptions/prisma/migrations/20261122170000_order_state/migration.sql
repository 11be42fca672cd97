ALTER TABLE attempts ADD COLUMN order_state TEXT, ADD COLUMN order_state_revision INTEGER NOT NULL DEFAULT 0;
