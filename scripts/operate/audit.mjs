import { createRequire } from 'node:module'

// The auditor is TypeScript: in a clone its types are taken off as it is loaded, in the image when it is built (infra/bundle-ops.mjs).
const require = createRequire(import.meta.url)
require('../test/register-typescript.cjs')
export const { audit } = require('../../tests/audit/index.ts')
