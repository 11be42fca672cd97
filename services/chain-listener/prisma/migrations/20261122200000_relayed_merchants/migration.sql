-- Since when transactions are relayed for a merchant: new merchants share a part of a day's budget for gas.
CREATE TABLE relayed_merchants (
  chain_id BIGINT NOT NULL,
  merchant TEXT NOT NULL,
  since TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (chain_id, merchant)
);
INSERT INTO relayed_merchants (chain_id, merchant, since)
SELECT chain_id, merchant, min(created_at) FROM relays, unnest(merchants) AS merchant WHERE outcome = 'done' GROUP BY chain_id, merchant;
