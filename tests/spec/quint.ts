import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const root = join(__dirname, '../..')

/** A model of spec/: one of its steps, and what runs by it must have seen somewhere, so that a model in which nothing happens is noticed. */
export interface QuintModel {
  name: string
  step: string
  maxSteps: number
  seen: readonly string[]
  /** A rule that is known to be wrong, whose fault a run must find. */
  wrongStep?: string
}

const PERIOD_SEEN = ['sawCancelled', 'sawCharged', 'sawSecond', 'sawPart', 'sawLapsed', 'sawNext']
const ORDER_SEEN = [
  ...['sawPaid', 'sawExpired', 'sawQuiet', 'sawSecondGeneration', 'sawAccepted'],
  ...['sawLate', 'sawDuplicate', 'sawAfterCancel', 'sawPaidOnBoth', 'sawHeldBack', 'sawExpiredBeside', 'sawAttached'],
]

export const models: readonly QuintModel[] = [
  { name: 'order', step: 'shallow', maxSteps: 60, seen: [...ORDER_SEEN, 'sawUnderpaidTwice'] },
  // Reorganisations that take confirmed blocks away.
  { name: 'order', step: 'step', maxSteps: 60, seen: [...ORDER_SEEN, 'sawReorged'] },
  { name: 'period', step: 'step', maxSteps: 60, seen: PERIOD_SEEN, wrongStep: 'byOurClock' },
  { name: 'period', step: 'served', maxSteps: 60, seen: PERIOD_SEEN },
  { name: 'refunds', step: 'step', maxSteps: 30, seen: ['sawConfirmed', 'sawRedirected'], wrongStep: 'byOurClock' },
  { name: 'payout', step: 'step', maxSteps: 80, seen: ['sawChange', 'sawAttack', 'sawObjection', 'sawApproval', 'sawOwner', 'sawHeld'] },
]

/** Quint draws by a counter that begins at its seed: without a distance, runs of neighbouring seeds soon are the same. */
export const seedOption = (seed: number): string => `--seed=0x${((BigInt(seed) * 0x9e3779b97f4a7c15n) % 2n ** 64n).toString(16)}`

/**
 * Runs Quint and answers its exit code and output. `--backend=typescript` because the other simulator is downloaded. The output goes to a file: Quint ends
 * itself by `process.exit`, which drops what a pipe has not taken yet.
 */
export async function quint(...args: string[]): Promise<{ code: number; output: string }> {
  const cli = require.resolve('@informalsystems/quint/dist/src/cli.js')
  const folder = await mkdtemp(join(tmpdir(), 'quint-'))
  try {
    const file = await open(join(folder, 'output'), 'w')
    const child = spawn(process.execPath, [cli, ...args, '--backend=typescript'], { cwd: root, stdio: ['ignore', file.fd, file.fd] })
    const [code] = await once(child, 'exit')
    await file.close()
    return { code: code ?? 1, output: await readFile(join(folder, 'output'), 'utf8') }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Samples runs of a model and answers how often each thing was seen; throws with the printed run when its invariant does not hold. */
export async function sample({ name, step, maxSteps, seen }: QuintModel, samples: number, seed: number): Promise<Map<string, number>> {
  const { code, output } = await quint(
    ...['run', `spec/${name}.qnt`, `--main=${name}`, `--step=${step}`, '--invariant=safe', `--max-samples=${samples}`],
    ...[`--max-steps=${maxSteps}`, seedOption(seed), '--verbosity=3', '--witnesses', ...seen],
  )
  if (code !== 0) throw new Error(output)
  return new Map(seen.map(witness => [witness, Number(new RegExp(`${witness} was witnessed in (\\d+)`).exec(output)?.[1] ?? 0)]))
}
