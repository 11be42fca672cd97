import { useMediaQuery } from '@mantine/hooks'
import { formatBrl, formatUsdc } from '@ponte/contracts/money'
import { useState } from 'react'
import { useWords } from '../texts'
import { type Day, scaleTop, type Volumes } from './volumes'
import './volume-chart.css'

const [WIDE, NARROW, HEIGHT] = [720, 330, 200]
const [LEFT, HEAD, FOOT] = [64, 14, 24]
const GROUND = HEIGHT - FOOT

/** One bar a day. What a bar says is told in words below it while it is looked at, and in a table to those who cannot see it. */
export function VolumeChart({ volumes }: { volumes: Volumes }) {
  const { t, locale, brl, usdc } = useWords()
  const [seen, setSeen] = useState<Day | null>(null)
  const { days } = volumes
  const narrow = useMediaQuery('(max-width: 40rem)', false, { getInitialValueInEffect: false })
  const width = narrow ? NARROW : WIDE
  const top = scaleTop(days)
  const step = (width - LEFT) / days.length
  const bar = Math.min(step * 0.62, 56)
  // A share of the drawing, not an amount: this is where a number is right.
  const heightOf = (amount: bigint) => (Number((amount * 1000n) / top) / 1000) * (GROUND - HEAD)
  const name = (day: Day, month: 'short' | 'numeric' = 'short') =>
    new Date(`${day.date}T12:00:00`).toLocaleDateString(locale, { day: 'numeric', month })
  const isNamed = (index: number) => days.length <= 10 || (days.length - 1 - index) % (narrow ? 7 : 5) === 0
  const reais = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={t.overview.chart(brl(volumes.brl))} onMouseLeave={() => setSeen(null)}>
        {[0n, top / 2n, top].map(level => (
          <g key={String(level)}>
            <line x1={LEFT} x2={width} y1={GROUND - heightOf(level)} y2={GROUND - heightOf(level)} className="level" />
            <text x={LEFT - 10} y={GROUND - heightOf(level) + 4} textAnchor="end">
              R$ {reais.format(Number(level) / 100)}
            </text>
          </g>
        ))}
        {days.map((day, index) => {
          const height = day.paid > 0 ? Math.max(3, heightOf(day.brl)) : 0
          const left = LEFT + index * step
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: a hint for the mouse; the table below says the same to everyone
            <g key={day.date} onMouseEnter={() => setSeen(day)}>
              <rect x={left} y="0" width={step} height={HEIGHT} className="field" />
              <rect
                x={left + (step - bar) / 2}
                y={GROUND - height}
                width={bar}
                height={height}
                rx={Math.min(4, height / 2)}
                className={seen === day ? 'bar seen' : 'bar'}
              />
              {isNamed(index) && (
                <text x={left + step / 2} y={HEIGHT - 5} textAnchor="middle">
                  {name(day, narrow ? 'numeric' : 'short')}
                </text>
              )}
            </g>
          )
        })}
      </svg>
      <figcaption aria-hidden="true">
        {seen
          ? `${name(seen)}: ${brl(formatBrl(seen.brl))}, ${usdc(formatUsdc(seen.usdc))} (${seen.paid})`
          : days.some(day => day.paid > 0)
            ? '\u00a0'
            : t.overview.nothingYet}
      </figcaption>
      <table className="hidden">
        <thead>
          <tr>
            <th>{t.overview.day}</th>
            <th>{t.overview.inBrl}</th>
            <th>{t.overview.inUsdc}</th>
          </tr>
        </thead>
        <tbody>
          {days.map(day => (
            <tr key={day.date}>
              <td>{name(day)}</td>
              <td>{brl(formatBrl(day.brl))}</td>
              <td>{usdc(formatUsdc(day.usdc))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}
