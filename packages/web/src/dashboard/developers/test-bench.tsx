import { Button } from '@mantine/core'
import type { TestScenarioName } from '@ponte/contracts'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { api } from '../api/api'
import { isSandbox } from '../api/session'
import { Card } from '../elements/card'
import { Failure } from '../elements/states'
import { useWords } from '../texts/words'

const LOOK_MS = 1_000
const STEPS = ['PT1H', 'P1D', 'P1M'] as const

/** Payers, networks and time at a click; nothing where money is real. */
export function TestBench() {
  const found = useQuery({ queryKey: ['sandbox'], queryFn: isSandbox })
  return found.data ? (
    <>
      <Scenarios />
      <TestClock />
    </>
  ) : null
}

function Scenarios() {
  const { t } = useWords()
  const scenarios = useQuery({ queryKey: ['test-scenarios'], queryFn: api.testScenarios })
  const [done, setDone] = useState<Partial<Record<TestScenarioName, string>>>({})
  const play = useMutation({
    mutationFn: async (scenario: TestScenarioName) => {
      const order = await api.createOrder({ brl_amount: '10.00', external_ref: scenario, expires_in: 600 }, crypto.randomUUID())
      return api.simulate(order.id, scenario)
    },
    onSuccess: ({ scenario, order_id }) => setDone(before => ({ ...before, [scenario]: order_id })),
  })
  if (scenarios.error) return <Failure error={scenarios.error} />
  return (
    <Card title={t.testBench.title}>
      <p className="faint">{t.testBench.text}</p>
      {play.error && <Failure error={play.error} />}
      <ul className="test-bench">
        {scenarios.data?.data.map(({ scenario, expects }) => (
          <li key={scenario}>
            <Button
              size="xs"
              variant="default"
              loading={play.isPending && play.variables === scenario}
              disabled={play.isPending}
              onClick={() => play.mutate(scenario)}
            >
              {t.testBench.names[scenario]}
            </Button>
            <span className="faint">{expects.events.join(', ') || t.testBench.noEvent}</span>
            <span role="status">{done[scenario] && <Link href={`/orders/${done[scenario]}`}>{t.testBench.order}</Link>}</span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function TestClock() {
  const { t, exactMoment } = useWords()
  const queries = useQueryClient()
  const clock = useQuery({
    queryKey: ['test-clock'],
    queryFn: api.testClock,
    refetchInterval: ({ state }) => (state.data?.target ? LOOK_MS : false),
  })
  const move = useMutation({
    mutationFn: api.advanceClock,
    onSuccess: read => queries.setQueryData(['test-clock'], read),
  })
  const isMoving = move.isPending || Boolean(clock.data?.target)
  return (
    <Card title={t.testBench.clock}>
      <p className="faint">{t.testBench.clockText}</p>
      {(clock.error ?? move.error) && <Failure error={(clock.error ?? move.error) as Error} />}
      <div className="buttons">
        <span role="status">{clock.data && exactMoment(clock.data.now)}</span>
        {STEPS.map(step => (
          <Button key={step} size="xs" variant="default" disabled={isMoving} onClick={() => move.mutate(step)}>
            {t.testBench.steps[step]}
          </Button>
        ))}
      </div>
    </Card>
  )
}
