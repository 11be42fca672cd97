import { runSystem, system, world } from '../../world'
import { systemContract } from './system-contract'

runSystem({ merchant: false })

describe('the five in one process', () => systemContract(() => ({ world, gatewayUrl: system.gatewayUrl })))
