/** Rooms of the chain listener, and the houses of the workspace, each as one node: docs/architecture.md shows what this draws. */
module.exports = {
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.check.json' },
    exclude: { path: '\\.test\\.ts$|/generated/|/artifacts/|node_modules' },
    includeOnly: process.env.GRAPH_OF,
  },
}
