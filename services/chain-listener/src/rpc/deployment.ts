import { DeploymentMismatchError, verifyDeployment } from '@ponte/payment-router'
import type { Logger, Part } from '@ponte/service-kit'
import { type Nodes, NoNodeError } from './pool'

export interface DeploymentOptions {
  chainId: number
  token: string
  routers: readonly string[]
  /** Where fees may go; anywhere when it is not given. */
  feeReceivers: readonly string[] | undefined
  /** Which fees will do, in basis points; any when it is not given. */
  feesBps: readonly number[] | undefined
  development: boolean
  quorum: number
  nodes: Nodes
  logger: Logger
}

export interface DeploymentCheck extends Part {
  /** Resolves once the chain was found as configured. Throws DeploymentMismatchError, or NoNodeError while too few nodes can be asked. */
  ensure(): Promise<void>
}

/**
 * Token, routers and chain must be what was configured before anything is read or relayed. A difference ends the start. A chain that cannot
 * be reached does not: the replica runs, and does not lead until the chain was verified.
 */
export function createDeploymentCheck(options: DeploymentOptions): DeploymentCheck {
  const { chainId, token, routers, feeReceivers, feesBps, development, quorum, nodes, logger } = options
  let verified = false

  const verifyRouter = async (routerAddress: string) => {
    const expected = { chainId, usdcAddress: token, routerAddress, feeReceivers, feeBps: feesBps, development }
    const agree = (values: readonly (readonly string[])[]) => values.filter(value => value.length === 0).length
    const votes = await nodes.ballot(
      'call',
      ({ provider }) => differences(verifyDeployment(provider, expected)),
      values => quorum > 1 && agree(values) >= quorum,
    )
    const values = votes.map(({ value }) => value)
    const differing = values.filter(value => value.length > 0)
    const [against] = differing
    // With one or two nodes there is no majority, and all that answer must agree.
    if (agree(values) >= quorum && (quorum > 1 || against === undefined)) return
    // One that differs may be syncing; the others are waited for.
    if (against !== undefined && differing.length >= quorum) throw new DeploymentMismatchError(chainId, against)
    const found = against === undefined ? '' : `; ${differing.length} found: ${against.join('; ')}`
    throw new NoNodeError(`${votes.length} of ${quorum} needed RPC nodes could be asked what stands on the chain${found}`)
  }
  const ensure = async () => {
    if (verified) return
    for (const router of routers) await verifyRouter(router)
    verified = true
    logger.info('token and routers are as configured', { chain_id: chainId, routers })
  }
  return {
    name: 'deployment',
    ensure,
    async start() {
      try {
        await ensure()
      } catch (error) {
        if (!(error instanceof NoNodeError)) throw error
        logger.warn('token and routers cannot be verified yet; this replica does not lead until they are', { error })
      }
    },
  }
}

async function differences(verification: Promise<void>): Promise<readonly string[]> {
  try {
    await verification
    return []
  } catch (error) {
    if (!(error instanceof DeploymentMismatchError)) throw error
    return error.differences
  }
}
