// Lets a tool of ours be TypeScript: its types are taken off when it is loaded, by the compiler that the tests use.
const { transformSync } = require('@swc/core')
const { readFileSync } = require('node:fs')
const { Module } = require('node:module')

// Generated clients import each other by the names that they have once they are compiled.
const resolve = Module._resolveFilename
Module._resolveFilename = (request, parent, ...rest) => {
  const isGenerated = request.startsWith('.') && request.endsWith('.js') && parent?.filename?.endsWith('.ts')
  return resolve(isGenerated ? request.slice(0, -3) : request, parent, ...rest)
}

require.extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    filename,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
    module: { type: 'commonjs' },
    sourceMaps: 'inline',
    swcrc: false,
  })
  module._compile(code, filename)
}
