import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const hex = (bytes: number) => randomBytes(bytes).toString('hex')

const contracts = z.object({ usdcAddress: z.string(), routerAddress: z.string(), rateFeedAddress: z.string() })
const merchant = z.object({ id: z.string(), api_key: z.string(), webhook_secret: z.string(), payout_address: z.string() })

/** Needed again at the next start: an embedded system's own secrets, and the objects of its first start. */
const schema = z.object({
  postgresPassword: z.string().default(() => hex(16)),
  publicClientKey: z.string().default(() => `pk_${hex(16)}`),
  sealKey: z.string().default(() => hex(32)),
  dossierKey: z.string().default(() => hex(32)),
  ordersTokenSecret: z.string().default(() => hex(32)),
  subscriptionsTokenSecret: z.string().default(() => hex(32)),
  webhooksTokenSecret: z.string().default(() => hex(32)),
  chainListenerTokenSecret: z.string().default(() => hex(32)),
  demoPassword: z.string().default(() => hex(8)),
  contracts: contracts.optional(),
  /** On the second network. */
  otherContracts: contracts.optional(),
  demoMerchant: merchant.optional(),
})
export type State = z.infer<typeof schema>

export interface StateFile {
  state: State
  save(more: Partial<State>): void
}

/** Opens `state.json` in the folder; what is missing is made at random and written at once, readable by its owner only. */
export function openState(folder: string): StateFile {
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  const file = join(folder, 'state.json')
  const write = (state: State) => {
    // Renamed into place, so that a kill in the middle leaves the old file whole.
    writeFileSync(`${file}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }
  const opened: StateFile = {
    state: schema.parse(read(file)),
    save(more) {
      opened.state = { ...opened.state, ...more }
      write(opened.state)
    },
  }
  write(opened.state)
  return opened
}

function read(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (Object(error).code === 'ENOENT') return {}
    throw new Error(`${file} cannot be read. Repair it, or start anew with: npm start -- --fresh`, { cause: error })
  }
}
