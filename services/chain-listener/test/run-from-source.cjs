// Lets `node` run the service's TypeScript as it stands: types are taken off when a file is loaded, by the compiler that Jest uses.
const { readFileSync, existsSync } = require('node:fs')
const Module = require('node:module')
const { join } = require('node:path')
const { transformSync } = require('@swc/core')

const root = join(__dirname, '../../..')
const resolve = Module._resolveFilename
Module._resolveFilename = function (request, parent, ...rest) {
  const workspace = /^@ponte\/([a-z-]+)(\/testing)?$/.exec(request)
  if (workspace) return join(root, 'packages', workspace[1], 'src', workspace[2] ? 'testing.ts' : 'index.ts')
  try {
    return resolve.call(this, request, parent, ...rest)
  } catch (error) {
    // Generated clients name their files as they will be called when compiled.
    const source = join(parent?.path ?? '', request.replace(/\.js$/, '.ts'))
    if (existsSync(source)) return source
    throw error
  }
}
require.extensions['.ts'] = (module, filename) => {
  const jsc = { parser: { syntax: 'typescript' }, target: 'es2023' }
  module._compile(
    transformSync(readFileSync(filename, 'utf8'), { filename, jsc, module: { type: 'commonjs' }, swcrc: false }).code,
    filename,
  )
}
