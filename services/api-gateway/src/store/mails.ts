import { MAIL_TOPICS, rolesFor } from '@ponte/contracts'
import { type Database, type Statement, snakeCase } from '@ponte/service-kit'
import type { Letter, Mail, Notice } from '../mail/mail'

/** Of one kind to one address: a flood of changes does not become a flood of mails, and hides no other change. */
const HOURLY_MAX = 60

/**
 * Inserts the notices named `mails` of a unit of work, one row for each member who wants them. It sees the members as they were before: who is removed
 * receives it too.
 */
export const INSERT_MAILS = `
  INSERT INTO mails (id, merchant_id, address, language, topic, kind, facts, created_at, due_at)
  SELECT gen_random_uuid(), n.merchant_id, m.email, coalesce(m.mail_language, 'pt'), n.topic, n.kind,
    n.facts || jsonb_build_object('merchant', x.display_name, 'user', coalesce(u.email, n.facts ->> 'user_id')), n.created_at, n.created_at
  FROM json_to_recordset($mails) AS n (merchant_id uuid, topic text, kind text, facts jsonb, roles text[], is_default boolean, created_at timestamptz)
    JOIN merchants x ON x.id = n.merchant_id
    JOIN members m ON m.merchant_id = n.merchant_id AND m.email IS NOT NULL AND m.role = ANY(n.roles)
    LEFT JOIN members u ON u.merchant_id = n.merchant_id AND u.user_id = n.facts ->> 'user_id'
  WHERE ((m.mail_topics IS NULL AND n.is_default) OR n.topic = ANY(string_to_array(m.mail_topics, ',')) OR (n.topic = 'account' AND m.role = 'owner'))
    AND (SELECT count(*) FROM mails earlier WHERE earlier.merchant_id = n.merchant_id AND earlier.address = m.email
      AND earlier.kind = n.kind AND earlier.created_at > n.created_at - interval '1 hour') < ${HOURLY_MAX}`

/** To one address of all merchants together, each of which may invite a stranger. */
const INVITATIONS_HOURLY_MAX = 10

/** Inserts the invitations by mail named `letters` of a unit of work. Who is invited is no member yet, so that there is no choice. */
export const INSERT_INVITATION_MAILS = `
  INSERT INTO mails (id, merchant_id, address, language, topic, kind, facts, created_at, due_at)
  SELECT n.id, n.merchant_id, n.address, 'pt', 'invitation', 'invitation',
    n.facts || jsonb_build_object('merchant', x.display_name, 'user', coalesce(u.email, n.facts ->> 'user_id')), n.created_at, n.created_at
  FROM json_to_recordset($letters) AS n (id uuid, merchant_id uuid, address text, facts jsonb, created_at timestamptz)
    JOIN merchants x ON x.id = n.merchant_id
    LEFT JOIN members u ON u.merchant_id = n.merchant_id AND u.user_id = n.facts ->> 'user_id'
  WHERE (SELECT count(*) FROM mails earlier WHERE earlier.merchant_id = n.merchant_id AND earlier.topic = 'invitation'
      AND earlier.created_at > n.created_at - interval '1 hour') < ${HOURLY_MAX}
    AND (SELECT count(*) FROM mails earlier WHERE earlier.address = n.address AND earlier.topic = 'invitation'
      AND earlier.created_at > n.created_at - interval '1 hour') < ${INVITATIONS_HOURLY_MAX}`

export const noticeRecord = ({ merchantId, topic, kind, facts, at }: Notice) => ({
  ...{ merchant_id: merchantId, topic, kind, facts, created_at: at },
  roles: rolesFor(topic),
  is_default: MAIL_TOPICS[topic].isDefault,
})

/** To one address of one merchant's payers. */
const CODES_HOURLY_MAX = 10

/** Raw SQL: a merchant chooses the addresses, and must not flood one of a stranger, nor many. */
const WRITE: Statement = {
  name: 'mail-write',
  text: `
  INSERT INTO mails (id, merchant_id, address, language, topic, kind, facts, created_at, due_at)
  SELECT n.id, n.merchant_id, n.address, n.language, n.topic, n.kind, n.facts, n.created_at, n.created_at
  FROM json_to_recordset($letters) AS n (id uuid, merchant_id uuid, address text, language text, topic text, kind text, facts jsonb, created_at timestamptz)
  WHERE (SELECT count(*) FROM mails earlier WHERE earlier.merchant_id = n.merchant_id AND earlier.topic = n.topic
      AND earlier.created_at > n.created_at - interval '1 hour') < ${HOURLY_MAX}
    AND (SELECT count(*) FROM mails earlier WHERE earlier.merchant_id = n.merchant_id AND earlier.address = n.address AND earlier.topic = n.topic
      AND earlier.created_at > n.created_at - interval '1 hour') < ${CODES_HOURLY_MAX}
  ON CONFLICT (id) DO NOTHING`,
}

const NOTIFY: Statement = { name: 'mails-notify', text: `WITH mail_rows AS (${INSERT_MAILS}) SELECT 1` }

/** Raw SQL: claims for one replica. What it does not finish is due again when the claim ends. */
const CLAIM = `
  UPDATE mails SET attempts = attempts + 1, due_at = $1::timestamptz + make_interval(secs => $2)
  WHERE id = ANY(ARRAY(
    SELECT id FROM mails WHERE sent_at IS NULL AND abandoned_at IS NULL AND due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED))
  RETURNING id, address, language, kind, facts, attempts`
/** Facts are removed once the mail is sent or given up; time and recipient stay. */
const SENT = `UPDATE mails SET sent_at = $2, facts = '{}', last_error = NULL WHERE id = $1`
const FAILED = `
  UPDATE mails SET due_at = coalesce($3::timestamptz, due_at), last_error = $4, abandoned_at = CASE WHEN $3::timestamptz IS NULL THEN $2::timestamptz END,
    facts = CASE WHEN $3::timestamptz IS NULL THEN '{}' ELSE facts END WHERE id = $1`
/** Payers' addresses sooner than members'. */
const FORGET = `
  DELETE FROM mails WHERE created_at < CASE WHEN topic = 'refund_claim' THEN $2::timestamptz ELSE $1::timestamptz END
    AND (sent_at IS NOT NULL OR abandoned_at IS NOT NULL)`
const WAITING = 'SELECT count(*)::int AS waiting FROM mails WHERE sent_at IS NULL AND abandoned_at IS NULL'
const CLAIM_S = 600
const KEPT_MS = 30 * 86_400_000
const PAYERS_KEPT_MS = 86_400_000

export const mailStore = (database: Database, { now }: { now: () => Date }) => ({
  async notify(eventId: string, notice: Notice): Promise<void> {
    await database.commit({ inbox: [eventId], write: NOTIFY, rows: { mails: [noticeRecord(notice)] } })
  },
  async write(eventId: string, letter: Letter): Promise<void> {
    await database.commit({ inbox: [eventId], write: WRITE, rows: { letters: [snakeCase(letter)] } })
  },
  async claim(limit: number): Promise<Mail[]> {
    return (await database.query<Mail>({ name: 'mails-claim', text: CLAIM }, [now(), CLAIM_S, limit])).rows
  },
  async sent(id: string): Promise<void> {
    await database.query({ name: 'mail-sent', text: SENT }, [id, now()])
  },
  /** It is tried again then; never when null. */
  async failed(id: string, error: string, retryAt: Date | null): Promise<void> {
    await database.query({ name: 'mail-failed', text: FAILED }, [id, now(), retryAt, error])
  },
  async forget(): Promise<void> {
    const before = (ms: number) => new Date(now().getTime() - ms)
    await database.query({ name: 'mails-forget', text: FORGET }, [before(KEPT_MS), before(PAYERS_KEPT_MS)])
  },
  async waiting(): Promise<number> {
    return (await database.query<{ waiting: number }>(WAITING)).rows[0]?.waiting ?? 0
  },
})
