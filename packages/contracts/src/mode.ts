import { z } from 'zod'

/** `test` is another deployment on a chain whose money is worth nothing; `development` is a developer's own machine, which gives the keys of `live`. */
export const MODES = ['live', 'test', 'development'] as const
export type Mode = (typeof MODES)[number]
export const keyPrefixOf = (mode: Mode): string => (mode === 'test' ? 'sk_test_' : 'sk_live_')

export const livemode = z.boolean().meta({ description: 'Whether the deployment moves real money; false in tests' })
