import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

// Writes the operator's commands as programs that need Node and nothing else: node infra/bundle-ops.mjs /app
const root = join(import.meta.dirname, '..')
const [target] = process.argv.slice(2)
if (!target) {
  console.error('Name the folder to write to: node infra/bundle-ops.mjs /app')
  process.exit(1)
}
const { build } = await import(pathToFileURL(createRequire(join(root, 'packages/web/package.json')).resolve('vite')))

await build({
  root,
  configFile: false,
  logLevel: 'warn',
  ssr: { noExternal: true, target: 'node' },
  resolve: { alias: { './audit.mjs': join(root, 'tests/audit/index.ts') } },
  build: {
    ssr: join(root, 'scripts/operate/ops.mjs'),
    target: 'node24',
    outDir: target,
    emptyOutDir: true,
    copyPublicDir: false,
    rollupOptions: { output: { entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' } },
  },
})
