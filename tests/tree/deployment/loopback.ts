import type { Variables } from './container'

// Differences between a rendering and the processes that are started from it on this machine: the port of the loopback interface on which each listens, and
// the addresses of servers whose names a cluster, or Compose, resolves. Nothing is left out.

/** `moved` has pairs of a text of the rendering, such as `@postgres:5432`, and what stands for it here. */
export function onLoopback(
  environment: Variables,
  ports: { PORT: string; OPS_PORT: string },
  moved: ReadonlyMap<string, string> = new Map(),
): Variables {
  const here = (value: string) => [...moved].reduce((text, [from, to]) => text.replaceAll(from, to), value)
  return {
    ...Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, here(value)])),
    // Containers have an address each; processes of one machine share it.
    HOST: '127.0.0.1',
    ...ports,
  }
}
