export interface CurlValues {
  base: string
  /** The API key, or the name of the variable that holds it. */
  key: string
  authUrl: string | null
  clientKey: string | null
  /** The comments of the lines, in the reader's language. */
  words: { verifyGiven: string; verifyEquals: string }
}

/** Lines to paste into a terminal, with the merchant's own values. */
export function curlLines({ base, key, authUrl, clientKey, words }: CurlValues) {
  const bearer = `-H "Authorization: Bearer ${key}"`
  const json = "-H 'Content-Type: application/json'"
  return {
    createOrder: `curl -s ${base}/api/v1/orders \\\n  ${bearer} \\\n  ${json} \\\n  -H "Idempotency-Key: $(date +%s)" \\\n  -d '{"brl_amount":"150.00","external_ref":"INV-7"}'`,
    listOrders: `curl -s "${base}/api/v1/orders?status=paid&limit=20" \\\n  ${bearer}`,
    createSubscription: `curl -s ${base}/api/v1/subscriptions \\\n  ${bearer} \\\n  ${json} \\\n  -d '{"brl_amount":"49.90","interval":"month","max_periods":12}'`,
    events: `curl -s ${base}/api/v1/events \\\n  ${bearer}`,
    login: `TOKEN=$(curl -s "${authUrl ?? '{auth_url}'}/auth/v1/token?grant_type=password" \\\n  -H 'apikey: ${clientKey ?? '<PUBLIC_CLIENT_KEY>'}' ${json} \\\n  -d '{"email":"you@example.com","password":"…"}' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')\ncurl -s ${base}/api/v1/merchants/me -H "Authorization: Bearer $TOKEN"`,
    verify: `# ${words.verifyGiven}\nprintf '%s' "$BODY" | openssl dgst -sha256 -hmac "$SECRET"\n# ${words.verifyEquals}`,
  }
}
