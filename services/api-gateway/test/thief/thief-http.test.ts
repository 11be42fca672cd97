import { startGateway, type TestGateway } from '../world'
import { ACCOUNT_MOVES, MOVES, type Played, play, THIEVES, type Thief, type World } from './http-game'

// A thief against the real gateway, by every operation of the table, and an oracle that knows rows and answers alone.
// Every sequence of the rules alone is walked in tests/explore and played by spec/payout.qnt.

const SEQUENCES = Number(process.env.PONTE_THIEF_SEQUENCES ?? 80)
const FROM = Number(process.env.PONTE_THIEF_FROM ?? 0)
const UNLIMITED = {
  RATE_LIMIT_CHANGES_PER_MINUTE: '1000000',
  RATE_LIMIT_CALLER_PER_MINUTE: '1000000',
  RATE_LIMIT_ADDRESS_PER_MINUTE: '1000000',
  RATE_LIMIT_UNCHANGED_PER_MINUTE: '1000000',
}
const systems: TestGateway[] = []
afterAll(() => Promise.all(systems.map(system => system.stop())))

async function start(env: Record<string, string> = {}): Promise<World> {
  const at = { ms: Date.parse('2026-11-20T12:00:00.000Z') }
  const now = () => new Date(at.ms)
  const system = await startGateway({ ...UNLIMITED, ...env }, { now })
  systems.push(system)
  return { system, at, now }
}

test(
  `in ${SEQUENCES} sequences over HTTP no thief is paid, no owner is out, and no secret is read unseen`,
  async () => {
    const world = await start()
    const asked: Played['asked'] = new Map()
    const violations: string[] = []
    for (let seed = FROM; seed < FROM + SEQUENCES; seed++) {
      const played = await play(world, THIEVES[seed % THIEVES.length] ?? 'fresh session', seed)
      violations.push(...played.violations.map(violation => `seed ${seed}: ${violation}`))
      for (const [id, { times, done }] of played.asked) {
        const before = asked.get(id) ?? { times: 0, done: 0 }
        asked.set(id, { times: before.times + times, done: before.done + done })
      }
    }
    expect(violations).toEqual([])
    // The thieves had something to try: they asked for all that there is, and had their way with all that changes an account.
    const never = (wanted: 'times' | 'done', moves: (typeof MOVES)['session']) =>
      moves.map(([id]) => id).filter(id => (asked.get(id)?.[wanted] ?? 0) === 0)
    expect(never('times', [...MOVES.session, ...MOVES.api_key])).toEqual([])
    // A change that waits for a second owner is met in one of a few hundred: 500 went by without an approval, 100 without a cancellation, 80 without an invitation.
    const rare = SEQUENCES < 2_000 ? ['approvePayoutChange', 'confirmWaitingChange', 'cancelWaitingChange', 'createInvitation'] : []
    // The key of the address in force is the owner's: what it has to sign is out of reach.
    const outOfReach = ['signPayoutAddress']
    expect(outOfReach.filter(id => !never('done', ACCOUNT_MOVES.session).some(move => move === id))).toEqual([])
    expect(never('done', ACCOUNT_MOVES.session).filter(id => ![...rare, ...outOfReach].includes(id))).toEqual([])
  },
  120_000 + 2_000 * SEQUENCES,
)

/** Of the database, before rows are written. */
const trigger = (table: string, work: string) =>
  `CREATE FUNCTION weaken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${work} END $$;
   CREATE TRIGGER weaken BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION weaken()`

const AT_ONCE = { PAYOUT_DELAY_S: '0', PAYOUT_UNSIGNED_DELAY_S: '0' }
test.each([
  ['a payout address is in force at once', 'the address of the thief is in force', 'fresh session', AT_ONCE, null],
  ['owners change at once', 'is no owner any more', 'fresh session', { OWNER_DELAY_S: '0' }, null],
  [
    ...['that a secret was shown is not recorded', 'without an audit row', 'fresh session', {}],
    trigger('audit_log', "IF NEW.action LIKE '%secret%' OR NEW.action LIKE 'endpoint%' THEN RETURN NULL; END IF; RETURN NEW;"),
  ],
  [
    ...['no one is informed of it', 'without an event', 'insider developer', {}],
    trigger('outbox', "IF NEW.type = 'account.changed' THEN RETURN NULL; END IF; RETURN NEW;"),
  ],
  ['no login is old', 'to an old session', 'stale session', { FRESH_LOGIN_S: '0' }, null],
  [
    ...['who joins a merchant sees it first', 'is the default of', 'fresh session', {}],
    trigger('members', "NEW.created_at := '2000-01-01'::timestamptz - (now() - '2026-01-01'); RETURN NEW;"),
  ],
  [
    ...['who ended all other sessions ended those to come', 'logged in and could not', 'fresh session', {}],
    trigger('sessions', "NEW.ended_others_at := NEW.ended_others_at + interval '90 days'; RETURN NEW;"),
  ],
] as [string, string, Thief, Record<string, string>, string | null][])(
  'the oracle finds it when %s',
  async (_what, violation, thief, env, sql) => {
    const world = await start(env)
    if (sql !== null) await world.system.sql.query(sql)
    const found: string[] = []
    for (let seed = 0; seed < 60 && !found.join('\n').includes(violation); seed++)
      found.push(...(await play(world, thief, seed)).violations)
    expect(found.join('\n')).toContain(violation)
  },
  240_000,
)
