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
/** Roles that a merchant's secrets are for, whatever the table of permissions says. */
const SEES: readonly unknown[] = ['owner', 'admin', 'developer']

/**
 * Every write to a merchant or its members is judged as it is made, whoever makes it and however soon it is written over. Without the indexes each look for an event
 * reads the whole outbox.
 */
const WATCH = `
  CREATE INDEX account_entries ON outbox ((body::jsonb #>> '{data,account,id}')) WHERE type = 'account.changed';
  CREATE INDEX merchant_events ON outbox ((body::jsonb #>> '{data,merchant_id}')) WHERE type = 'merchant.updated';
  CREATE TABLE victims (merchant_id uuid PRIMARY KEY, owners text[] NOT NULL, thief_address text NOT NULL);
  CREATE TABLE violations (merchant_id uuid NOT NULL, what text NOT NULL, PRIMARY KEY (merchant_id, what));
  CREATE FUNCTION judge_payout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO violations SELECT merchant_id, 'the address of the thief is in force' FROM victims WHERE merchant_id = NEW.id AND thief_address = NEW.payout_address
    ON CONFLICT DO NOTHING;
    RETURN NULL;
  END $$;
  CREATE TRIGGER judge_payout AFTER UPDATE ON merchants FOR EACH ROW EXECUTE FUNCTION judge_payout();
  CREATE FUNCTION judge_owner() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'DELETE' OR NEW.role <> 'owner' THEN
      INSERT INTO violations SELECT merchant_id, OLD.user_id || ' is no owner any more' FROM victims WHERE merchant_id = OLD.merchant_id AND OLD.user_id = ANY(owners)
      ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER judge_owner AFTER UPDATE OR DELETE ON members FOR EACH ROW EXECUTE FUNCTION judge_owner()`
const watched = new WeakMap<Sql, Promise<unknown>>()
const watch = (sql: Sql): Promise<unknown> => {
  const watching = watched.get(sql) ?? sql.query(WATCH, [])
  watched.set(sql, watching)
  return watching
}
const VICTIM = 'INSERT INTO victims VALUES ($1, $2, $3)'
const MERCHANT = `
  SELECT payout_address, ARRAY(SELECT user_id FROM members WHERE merchant_id = m.id AND role = 'owner') AS owners,
    ARRAY(SELECT what FROM violations WHERE merchant_id = m.id) AS violations
  FROM merchants m WHERE id = $1`
const RECORDS = `
  SELECT EXISTS (SELECT 1 FROM outbox WHERE type = 'account.changed' AND body::jsonb #>> '{data,account,id}' = a.id::text) AS is_informed
  FROM audit_log a WHERE merchant_id = $1 AND request_id = $2`
const ROLE = 'SELECT role FROM members WHERE merchant_id = $1 AND user_id = $2'
const PUBLISHED = `
  SELECT count(*)::int AS count FROM outbox
  WHERE type = 'merchant.updated' AND body::jsonb #>> '{data,merchant_id}' = $1 AND body::jsonb #>> '{data,payout_address}' = $2`

export async function oracle(sql: Sql, { merchantId, owners, thiefAddress }: Victim) {
  await watch(sql)
  await sql.query(VICTIM, [merchantId, owners, thiefAddress])
  const violations = new Set<string>()
  const violated = (what: string) => void violations.add(what)

  return {
    violations,
    violated,
    /** Where the merchant is paid and who owns it, and at any moment before. */
    async merchant() {
      const [merchant] = (await sql.query(MERCHANT, [merchantId])).rows
      for (const what of [merchant?.violations].flat()) violated(String(what))
      if (merchant?.payout_address === thiefAddress) violated('the address of the thief is in force')
      for (const owner of owners) if (![merchant?.owners].flat().includes(owner)) violated(`${owner} is no owner any more`)
    },
    /** Of each answer about the merchant to the thief: each secret in it has its row and its event, of this very request, and is for the role of who sees it. Answers whether the owners were informed. */
    async answer(by: string, name: string, answer: Answer): Promise<boolean> {
      const secrets = answer.text.match(SECRET) ?? []
      if (answer.status >= 300 && secrets.length === 0) return false
      const { rows } = await sql.query(RECORDS, [merchantId, answer.requestId])
      const isInformed = rows.some(({ is_informed }) => is_informed === true)
      for (const secret of secrets) {
        if (rows.length === 0) violated(`${name} by ${by} showed ${secret.slice(0, 7)}… without an audit row`)
        else if (!isInformed) violated(`${name} by ${by} showed ${secret.slice(0, 7)}… without an event`)
      }
      const [member] = secrets.length > 0 ? (await sql.query(ROLE, [merchantId, by])).rows : []
      if (member && !SEES.includes(member.role)) violated(`${name} showed ${secrets[0]?.slice(0, 7)}… to a ${member.role}`)
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
