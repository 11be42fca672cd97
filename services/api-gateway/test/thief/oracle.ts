// What must hold for the owners of a merchant, by its rows and by what was answered alone. It imports nothing: no rule of the gateway judges itself here.

interface Sql {
  query(text: string, values: unknown[]): Promise<{ rows: Record<string, unknown>[] }>
}
interface Answer {
  status: number
  text: string
  requestId: string
}
interface Victim {
  merchantId: string
  /** Users who own it from before the thief came. */
  owners: readonly string[]
  thiefAddress: string
}

/** Each kind that a merchant has: webhook secrets in hex or base64, API keys, invitations. The few shown characters of a key are none. */
const SECRET = /(?:whsec_|sk_live_|inv_)[\w+/=-]{40,}/g

// Without it each look for an event reads the whole outbox.
const INDEX = "CREATE INDEX IF NOT EXISTS account_entries ON outbox ((body::jsonb #>> '{data,account,id}')) WHERE type = 'account.changed'"
const MERCHANT = `
  SELECT payout_address, ARRAY(SELECT user_id FROM members WHERE merchant_id = m.id AND role = 'owner') AS owners
  FROM merchants m WHERE id = $1`
const RECORDS = `
  SELECT EXISTS (SELECT 1 FROM outbox WHERE type = 'account.changed' AND body::jsonb #>> '{data,account,id}' = a.id::text) AS is_informed
  FROM audit_log a WHERE merchant_id = $1 AND request_id = $2`
const PUBLISHED = `
  SELECT count(*)::int AS count FROM outbox
  WHERE type = 'merchant.updated' AND body::jsonb #>> '{data,merchant_id}' = $1 AND body::jsonb #>> '{data,payout_address}' = $2`

export async function oracle(sql: Sql, { merchantId, owners, thiefAddress }: Victim) {
  await sql.query(INDEX, [])
  const violations = new Set<string>()
  const violated = (what: string) => void violations.add(what)

  return {
    violations,
    violated,
    /** At any moment: where the merchant is paid, and who owns it. */
    async merchant() {
      const [merchant] = (await sql.query(MERCHANT, [merchantId])).rows
      if (merchant?.payout_address === thiefAddress) violated('the address of the thief is in force')
      for (const owner of owners) if (![merchant?.owners].flat().includes(owner)) violated(`${owner} is no owner any more`)
    },
    /** Of each answer about the merchant to the thief: each secret in it has its row and its event, of this very request. Answers whether the owners were informed. */
    async answer(by: string, name: string, answer: Answer): Promise<boolean> {
      const secrets = answer.text.match(SECRET) ?? []
      if (answer.status >= 300 && secrets.length === 0) return false
      const { rows } = await sql.query(RECORDS, [merchantId, answer.requestId])
      const isInformed = rows.some(({ is_informed }) => is_informed === true)
      for (const secret of secrets) {
        if (rows.length === 0) violated(`${name} by ${by} showed ${secret.slice(0, 7)}… without an audit row`)
        else if (!isInformed) violated(`${name} by ${by} showed ${secret.slice(0, 7)}… without an event`)
      }
      if (secrets.length > 0 && by === 'an old session') violated(`${name} showed ${secrets[0]?.slice(0, 7)}… to an old session`)
      return isInformed
    },
    /** In the end: what was ever published of the merchant. */
    async published() {
      const [{ count } = {}] = (await sql.query(PUBLISHED, [merchantId, thiefAddress])).rows
      if (count !== 0) violated('the address of the thief was published')
    },
    /** The merchant that an owner sees who names none. */
    store(owner: string, answer: Answer) {
      const id: unknown = answer.status === 200 ? JSON.parse(answer.text).id : answer.status
      if (id !== merchantId) violated(`the merchant of the thief is the default of ${owner}: ${id}`)
    },
  }
}
