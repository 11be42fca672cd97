import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { operationList } from '@ponte/contracts'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// Two documents that share little, so that a payer's phone never loads the dashboard.
export default defineConfig({
  base: '/',
  plugins: [react(), operationPermissions(), packedCopies()],
  resolve: {
    // The pages need amounts and fees, not schemas and contracts: the front doors would bring zod and ethers along.
    alias: {
      '@ponte/contracts/fiscal-key': at('../contracts/src/fiscal-key.ts'),
      '@ponte/contracts/money': at('../contracts/src/money.ts'),
      '@ponte/contracts/tax-id': at('../contracts/src/tax-id.ts'),
      '@ponte/payment-router/supported-chains': at('../payment-router/src/deployment/supported-chains.ts'),
    },
  },
  build: {
    target: 'es2022',
    // The content security policy allows no data: fonts, and an inlined file cannot be cached.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    rollupOptions: { input: { pay: at('pay.html'), dashboard: at('dashboard.html') } },
  },
  server: { proxy: { '^/(api|settings.json|docs|openapi.json|dashboard/session)': 'http://127.0.0.1:8080' } },
})

/** A gzipped copy beside every script and style, which the gateway sends to browsers that take it. */
function packedCopies(): Plugin {
  return {
    name: 'packed-copies',
    apply: 'build',
    closeBundle() {
      for (const name of readdirSync(at('dist/assets')).filter(file => /\.(js|css)$/.test(file))) {
        const path = at(`dist/assets/${name}`)
        writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }))
      }
    },
  }
}

/** Permissions of the operation table, without the schemas that the table brings along. */
function operationPermissions(): Plugin {
  const name = 'virtual:operation-permissions'
  const needed = operationList.map(([id, { permission, also = [] }]) => [id, [...(permission === null ? [] : [permission]), ...also]])
  return {
    name: 'operation-permissions',
    resolveId: id => (id === name ? `\0${name}` : undefined),
    load: id => (id === `\0${name}` ? `export const neededFor = ${JSON.stringify(Object.fromEntries(needed))}` : undefined),
  }
}
