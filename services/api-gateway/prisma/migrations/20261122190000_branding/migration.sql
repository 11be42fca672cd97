-- How a merchant's checkout looks. Only the gateway reads and writes these; a replica of the release before leaves them alone.
ALTER TABLE "merchants" ADD COLUMN "branding" JSONB;

-- One picture for each merchant, as it was encoded here.
CREATE TABLE "logos" (
    "merchant_id" UUID NOT NULL,
    "hash" TEXT NOT NULL,
    "png" BYTEA NOT NULL,

    CONSTRAINT "logos_pkey" PRIMARY KEY ("merchant_id"),
    CONSTRAINT "logos_merchant_id_fkey" FOREIGN KEY ("merchant_id") REFERENCES "merchants"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
);

CREATE INDEX "logos_hash_idx" ON "logos"("hash");
