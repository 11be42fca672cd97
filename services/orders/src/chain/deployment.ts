import { ApiError } from '@ponte/contracts'
import { DeploymentMismatchError, type ExpectedDeployment, verifyDeployment } from '@ponte/payment-router'
import { every, type Logger, type Part } from '@ponte/service-kit'
import type { ChainReader } from './chain-reader'

export interface DeploymentCheck extends Part {
  /** Throws `service_unavailable` while fee, token, router and chain are not known to be what is configured. */
  requireVerified(): void
}

const RETRY_MS = 5_000

/**
 * No order is opened on terms that the chain contradicts. A difference ends the start. A chain that cannot be reached does not: orders are read,
 * paid, expired and cancelled, and none is opened until the chain was verified.
 */
export function createDeploymentCheck(reader: ChainReader, expected: ExpectedDeployment, logger: Logger): DeploymentCheck {
  let isVerified = false
  const verify = async () => {
    if (isVerified) return
    await reader.ask(provider => verifyDeployment(provider, expected))
    isVerified = true
    logger.info('fee, token, router and chain are as configured', { chain_id: expected.chainId, router_address: expected.routerAddress })
  }
  const loop = every('deployment check', RETRY_MS, verify, logger)
  return {
    name: 'deployment check',
    requireVerified() {
      if (isVerified) return
      throw new ApiError('service_unavailable', 'No order can be opened before the chain was verified. Try again shortly.', {
        retryAfterS: 10,
      })
    },
    async start() {
      try {
        await verify()
      } catch (error) {
        if (error instanceof DeploymentMismatchError) throw error
        logger.warn('the chain cannot be verified yet; no order is opened until it is', { error })
      }
      await loop.start?.()
    },
    async stop() {
      await loop.stop?.()
    },
    busy: () => loop.busy?.() ?? false,
  }
}

/** On a development chain without a node to ask, what is configured is taken as it is. */
export const unverifiedDeployment: DeploymentCheck = { name: 'deployment check', requireVerified: () => undefined }
