-- To return money is a right of its own. Named keys that could so far, by orders:write, still can.
UPDATE named_keys SET scopes = array_append(scopes, 'refunds:write')
WHERE revoked_at IS NULL AND 'orders:write' = ANY (scopes) AND NOT 'refunds:write' = ANY (scopes);
