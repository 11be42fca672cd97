// Lets a tool of ours be TypeScript: its types are taken off when it is loaded, by the compiler that the tests use.
const { transformSync } = require('@swc/core')
const { readFileSync } = require('node:fs')

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
