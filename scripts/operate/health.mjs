/** The samples of a `/metrics` page (Prometheus' text format) by name, and the chain that they are of. What could not be read (NaN) is left out. */
export function readSamples(text) {
  const samples = new Map()
  for (const [, name, value] of text.matchAll(/^([a-z_]+)(?:\{[^\n]*\})? (\S+)$/gm)) {
    const number = Number(value)
    if (!Number.isNaN(number)) samples.set(name, [...(samples.get(name) ?? []), number])
  }
  return { samples, chainId: /\bchain_id="(\d+)"/.exec(text)?.[1] ?? null }
}

/**
 * Lines of what is well and what is not, from what the ops ports answered: by service its `ready` (`/readyz`, null when it did not answer), its
 * `samples` and their chain, and the `/status` of each network's listener. The limits are those of infra/prometheus/alerts.yaml.
 */
export function findings(services, chains, now) {
  const largest = name => largestOf(Object.values(services).flatMap(({ samples }) => samples.get(name) ?? []))
  const byService = name => Object.entries(services).map(([service, { samples }]) => [service, largestOf(samples.get(name) ?? [])])
  const above = (name, limit) => byService(name).filter(([, value]) => value > limit)
  const line = (subject, isWell, text, advice) => ({ subject, isWell, text, advice: isWell ? null : advice })
  const least = name => Math.min(...Object.values(services).flatMap(({ samples }) => samples.get(name) ?? []))

  const withoutBroker = Object.entries(services).filter(([, { samples }]) => Math.min(...(samples.get('ponte_bus_accepts') ?? [])) < 1)
  const stuck = above('ponte_outbox_oldest_age_seconds', 60)
  const dead = above('ponte_dead_letters_waiting', 0)
  const waiting = above('ponte_queue_waiting', 10_000)
  const differing = above('ponte_reconcile_differences', 0)
  // Of a listener's replicas the leader alone looks.
  const unaudited = [...Map.groupBy(Object.keys(services), service => service.replace(/ \d+$/, ''))].flatMap(([name, replicas]) => {
    const runs = replicas.flatMap(replica => services[replica].samples.get('ponte_reconcile_last_run_timestamp_seconds') ?? [])
    const isAuditor = name === 'orders' || name.startsWith('chain-listener')
    return isAuditor && !(now / 1_000 - largestOf(runs) <= AUDITED_S) ? [name] : []
  })
  const dueS = largest('ponte_webhook_oldest_due_age_seconds')
  const rateS = largest('ponte_quote_age_seconds')
  const missing = largest('ponte_payment_events_missing')
  const list = found => found.map(([service, value]) => `${service} ${Math.round(value)}`).join(', ')
  const ofBroker = text => (withoutBroker.length === 0 ? text : 'not known while the broker is away')

  return [
    ...Object.entries(services).map(([service, { url, ready }]) => {
      const parts = Object.entries(ready?.parts ?? {}).filter(([, isReady]) => !isReady)
      const text =
        ready === null ? `no answer at ${url}` : parts.length > 0 ? `not ready: ${parts.map(([part]) => part).join(', ')}` : 'ready'
      return line(
        service,
        text === 'ready',
        text,
        ready === null
          ? `PonteReplicaSilent; the container with that address, whatever its number (docker compose ps -a)`
          : `read the log of ${service}; GET ${url}/readyz names each part`,
      )
    }),
    line(
      'broker',
      withoutBroker.length === 0,
      withoutBroker.length === 0 ? 'takes what is published' : `takes nothing from ${withoutBroker.map(([service]) => service).join(', ')}`,
      'PonteBrokerAway; orders are taken meanwhile, and all is published when it is back',
    ),
    line(
      'outboxes',
      stuck.length === 0,
      stuck.length === 0 ? 'nothing waits' : `oldest event, in seconds: ${list(stuck)}`,
      'PonteOutboxStuck',
    ),
    line(
      'queues',
      waiting.length === 0,
      waiting.length === 0 ? ofBroker(`${largest('ponte_queue_waiting') || 0} events wait at most`) : list(waiting),
      'PonteQueueGrows',
    ),
    line('dead letters', dead.length === 0, dead.length === 0 ? ofBroker('none') : list(dead), 'npm run dead -- list'),
    ...chains.flatMap(({ name, status }) => chainLines(status, now, line, { name, isOfSeveral: chains.length > 1 })),
    line(
      'exchange rate',
      Number.isFinite(rateS) && least('ponte_quote_lasts_seconds') >= 60,
      Number.isFinite(rateS) ? `${Math.round(rateS)} s old` : 'none',
      'PonteQuoteOld',
    ),
    line(
      'books',
      differing.length === 0 && unaudited.length === 0,
      differing.length > 0
        ? `differences: ${list(differing)}`
        : unaudited.length > 0
          ? `not held against the chain for 15 minutes: ${unaudited.join(', ')}`
          : 'agree with the chain',
      differing.length > 0 ? 'npm run reconcile' : 'PonteBooksNotAudited',
    ),
    line(
      'expiry',
      !(missing > 0),
      missing > 0 ? `waits: ${missing} payment events are on their way` : 'sees every payment event',
      'PonteExpiryWaits where it lasts',
    ),
    line(
      'webhooks',
      !(dueS > 60),
      `${largest('ponte_webhook_backlog') || 0} due, the oldest ${Math.round(dueS) || 0} s`,
      'PonteWebhooksLate',
    ),
    ...(Number.isFinite(largest('ponte_relayer_sweeps_affordable')) || Number.isFinite(largest('ponte_relayer_signatures_affordable'))
      ? []
      : [line('relayer', true, 'not looked at: none runs, or it is a process of its own that RELAYER_OPS_URL names')]),
    ...relayerLines(services, line),
    line(
      'contracts',
      !(largest('ponte_deployment_differences') > 0 || largest('ponte_token_paused') > 0),
      'as deployed, token not paused',
      'PonteDeploymentDiffers, PonteTokenPaused',
    ),
  ]
}

const AUDITED_S = 900
const STANDING_S = 300

/** By the chain that each relayer is of. */
function relayerLines(services, line) {
  const of = Map.groupBy(
    Object.values(services).filter(({ chainId }) => chainId !== null),
    ({ chainId }) => chainId,
  )
  return [...of].flatMap(([chainId, all]) => {
    const values = name => all.flatMap(({ samples }) => samples.get(name) ?? [])
    const spent = values('ponte_relayer_spent_usdc_total').reduce((sum, one) => sum + one, 0)
    return ['sweeps', 'signatures'].flatMap(kind => {
      const affordable = Math.min(...values(`ponte_relayer_${kind}_affordable`))
      if (!Number.isFinite(affordable)) return []
      const text = `gas for ${Math.floor(affordable)} more${kind === 'sweeps' ? `, ${spent.toFixed(2)} USDC spent since it was started` : ''}`
      const subject = of.size > 1 ? `relayer ${chainId}, ${kind}` : `relayer, ${kind}`
      return [line(subject, affordable >= 200, text, 'PonteRelayerStarved, PonteSweepsRunDry, PonteGaslessRunsDry')]
    })
  })
}

function chainLines(chain, now, line, { name, isOfSeveral }) {
  const unknown = (text, advice) => [line(isOfSeveral ? `chain of ${name}` : 'chain', false, text, advice)]
  if (chain === null) return unknown('not known', `${name} does not answer`)
  // One that halted has given up its lease.
  if (chain.role !== 'leader' && chain.halted === null) return unknown('no replica leads: nothing is read', 'PonteNoChainLeader')
  const of = subject => (isOfSeveral ? `${subject}, ${chain.chain_id}` : subject)
  const { halted, head_block: head, head_time: headTime, lag_blocks: lag, rpc, trust } = chain
  const ageS = headTime === null ? null : Math.max(0, Math.round((now - Date.parse(headTime)) / 1_000))
  const standing = ageS !== null && ageS > STANDING_S
  const resting = rpc.filter(node => node.resting !== null)
  const where = `block ${head}${ageS === null ? '' : `, ${ageS} s old`}, ${lag} behind`
  return [
    line(
      of('chain'),
      halted === null && !standing && !(lag > 60),
      halted ?? where,
      halted === null ? 'PonteChainStands, PontePaymentsNotRead' : 'PonteChainHalted',
    ),
    line(
      of('RPC end points'),
      resting.length === 0,
      resting.length === 0
        ? `${rpc.length} answer, ${trust.quorum} must agree`
        : resting.map(node => `${node.name} is left alone (${node.resting})`).join(', '),
      `${rpc.length - resting.length} of ${rpc.length} answer, ${trust.quorum} must agree; replace it in RPC_URLS`,
    ),
    line(of('proofs'), trust.unproven === null, trust.unproven ?? `of ${trust.proof}`, 'PonteChainUnproven'),
  ]
}

const largestOf = values => (values.length === 0 ? Number.NaN : Math.max(...values))
