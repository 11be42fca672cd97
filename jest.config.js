const { availableParallelism } = require('node:os')

// One Jest for the whole tree. Service tests find their database server and broker in the environment (globalSetup starts them).
/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/packages', '<rootDir>/services', '<rootDir>/tests'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/'],
  transform: {
    '^.+\\.[cm]?[jt]sx?$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript', tsx: true }, target: 'es2023' }, module: { type: 'commonjs' } },
    ],
  },
  // jose (inside jwks-rsa) and fast-png are published as ES modules only.
  transformIgnorePatterns: ['/node_modules/(?!(?:\\.pnpm/[^/]+/node_modules/)?(?:jose|fast-png|iobuffer)/)'],
  // Workspace packages are tested from their sources, so that a test never sees an old build.
  moduleNameMapper: {
    // Prisma's generated sources and those of packages/sdk name each other as the .js files they become.
    '^(\\./(?:\\w+/)?\\w+|\\.\\./(?:\\w+/)?\\w+)\\.js$': '$1',
    '^@ponte/contracts/(fiscal-key|money|tax-id)$': '<rootDir>/packages/contracts/src/$1.ts',
    '^@ponte/payment-router/supported-chains$': '<rootDir>/packages/payment-router/src/deployment/supported-chains.ts',
    '^@ponte/([a-z-]+)$': ['<rootDir>/packages/$1/src/index.ts', '<rootDir>/services/$1/src/index.ts'],
    '^@ponte/sdk/(express|fetch|next)$': '<rootDir>/packages/sdk/src/$1.ts',
    '^@ponte/([a-z-]+)/testing$': '<rootDir>/packages/$1/src/testing.ts',
  },
  globalSetup: '<rootDir>/scripts/test/jest-global-setup.mjs',
  globalTeardown: '<rootDir>/scripts/test/jest-global-teardown.mjs',
  testSequencer: '<rootDir>/scripts/test/jest-sequencer.cjs',
  // Service tests also wait, so one more than there are cores keeps the cores busy; four share one database server in comfort.
  maxWorkers: Math.min(4, availableParallelism() + 1),
  // A worker that has grown is replaced before its next file: the last ones of a long run took three times as long.
  workerIdleMemoryLimit: '1GB',
  // Longer than two conditions are waited for, so that a failure names what did not come.
  testTimeout: 150_000,
}
