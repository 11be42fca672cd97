// The entry point of the image ponte/ops: docker compose run --rm ops status. In a clone each command is a script of package.json.
const commands = {
  status: () => import('./status.mjs'),
  reconcile: () => import('./reconcile.mjs'),
  rescan: () => import('./rescan.mjs'),
  republish: () => import('./republish.mjs'),
  dead: () => import('./dead.mjs'),
  reseal: () => import('./reseal.mjs'),
  freeze: () => import('./freeze.mjs'),
}

const [name] = process.argv.splice(2, 1)
if (Object.hasOwn(commands, name ?? '')) await commands[name]()
else {
  console.error(`Name one of ${Object.keys(commands).join(', ')}.`)
  process.exitCode = 2
}
