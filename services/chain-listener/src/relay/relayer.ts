import { every, type Logger, type Loop } from '@ponte/service-kit'
import type { ChainClient } from '../rpc/chain-client'
import { RpcError } from '../rpc/error'
import { NoNodeError } from '../rpc/pool'
import type { Leader } from '../store/leader'
import { LeaseLostError } from '../store/lease'
import { type AuthorizationGas, createAuthorized } from './authorized'
import type { NonceLine } from './line/nonce-line'
import { createRecoverySubmission } from './recoveries'
import { createRefundSubmission } from './refunds'
import type { AuthorizationStore } from './store/authorizations'
import type { DueRecoveryStore } from './store/due-recoveries'
import type { PayableStore } from './store/payables'
import type { SignedRefundStore } from './store/signed-refunds'
import type { RelayStore } from './store/transactions'
import { createSweeps } from './sweeps'

export interface RelayerOptions {
  token: string
  routers: readonly string[]
  chain: ChainClient
  payables: PayableStore
  relays: RelayStore
  authorizations: AuthorizationStore
  /** Undefined while none is submitted. */
  refunds: SignedRefundStore | undefined
  /** The same. */
  recoveries: DueRecoveryStore | undefined
  leader: Leader
  /** All accounts whose transactions are followed, lower-case. */
  accounts(): Promise<string[]>
  /** The last block that is confirmed: -1 before the first one, undefined while nothing is known. */
  confirmed(): Promise<number | undefined>
  /** Publishes what became of payers' signatures, and what can be swept. */
  publish(): Promise<void>
  minUnits: bigint
  batchMax: number
  gas: { sweeps: { one: bigint; batch: bigint }; signatures: AuthorizationGas; recovery: bigint }
  /** By which the gas of a recovery is judged. */
  recoveryWorthUnits: bigint
  pollMs: number
  now: () => Date
  logger: Logger
}

/** Sweeps deposits, and then recovers what else lies there, in the replica that leads. */
export function createSweeper(options: RelayerOptions, line: NonceLine): Loop {
  const { chain, leader, payables, recoveries, routers, minUnits, now, logger } = options
  const sweeps = createSweeps({ ...options, gas: options.gas.sweeps, store: payables, line })
  const foreign =
    recoveries &&
    createRecoverySubmission({
      ...{ chain, routers, recoveries, payables, line, gasMax: options.gas.recovery, worthUnits: options.recoveryWorthUnits, now, logger },
    })
  const loop = lineLoop('sweeper', options, line, async (epoch, block) => {
    const more = await sweeps.look(epoch, block)
    const submitted = await sweeps.sweepDue(epoch, block)
    return (await foreign?.submitDue(epoch, await options.accounts())) === true || submitted || more
  })
  return {
    ...loop,
    async busy() {
      if (leader.epoch() === undefined) return false
      if ((await loop.busy?.()) === true || (await payables.moved(1)).length > 0) return true
      if (line.room() === 0 && line.unmined() === 0) return false
      if (line.room() > 0 && (await recoveries?.hasDue(now(), await options.accounts()))) return true
      return (await payables.due(now(), { minUnits, routers, limit: 1, sender: (await line.address()).toLowerCase() })).length > 0
    },
  }
}

/** Submits signatures of payers, and then of merchants' refunds, in the replica that leads. */
export function createSubmitter(options: RelayerOptions, line: NonceLine): Loop {
  const { chain, token, leader, payables, authorizations, refunds, now, logger } = options
  const authorized = createAuthorized({
    ...{ chain, token, store: authorizations, payables, line, gas: options.gas.signatures, now, logger },
  })
  const returned = refunds && createRefundSubmission({ token, refunds, payables, line, gasMax: options.gas.signatures.key, now, logger })
  const loop = lineLoop('submitter', options, line, async (epoch, block) => {
    const accounts = await options.accounts()
    await authorizations.adopt(epoch, accounts)
    const more = await authorized.submitDue(epoch, block)
    return (await returned?.submitDue(epoch, accounts)) === true || more
  })
  return {
    ...loop,
    async busy() {
      if (leader.epoch() === undefined) return false
      if ((await loop.busy?.()) === true) return true
      if (line.room() === 0) return false
      return (await authorizations.hasDue(now())) || (await refunds?.hasDue(now(), await options.accounts())) === true
    },
  }
}

/** Follows a line and works on it, turn by turn; neither loop waits for the other. */
function lineLoop(
  name: string,
  { leader, relays, confirmed, publish, pollMs, logger }: RelayerOptions,
  line: NonceLine,
  work: (epoch: bigint, block: number) => Promise<boolean>,
): Loop {
  const turn = async (): Promise<boolean> => {
    const [epoch, block] = [leader.epoch(), await confirmed()]
    if (epoch === undefined || block === undefined || block < 0) return false
    try {
      await line.follow(epoch, block)
      const more = await work(epoch, block)
      await publish()
      return more
    } catch (error) {
      if (error instanceof LeaseLostError) leader.resign(error.message)
      else if (error instanceof NoNodeError || error instanceof RpcError) logger.warn(`the ${name} waits for the chain`, { error })
      else throw error
      return false
    }
  }
  const loop = every(name, pollMs, turn, logger)
  return {
    ...loop,
    async busy() {
      if ((await loop.busy?.()) === true) return true
      return !line.outOfGas() && (await relays.open((await line.address()).toLowerCase())).length > 0
    },
  }
}
