import { useElementSize } from '@mantine/hooks'
import type { SummaryBody } from '@ponte/contracts'
import { useState } from 'react'
import { useWords } from '../texts/words'
import { type Day, heightUnits, scaleTop } from './volumes'
import './volume-chart.css'

const HEIGHT = 220
const [HEAD, FOOT, GAP] = [14, 24, 10]
const CHARACTER = 7
/** Room for a date with the space around it, by its form, and half of the shorter form: the last one ends with the drawing. */
const [DATE_WIDTH, SHORT_DATE_WIDTH, SHORT_DATE_HALF] = [72, 60, 18]
const GROUND = HEIGHT - FOOT

/** One bar a day, drawn in the pixels it is shown in, so that its labels keep the size of text. A table holds the same figures for screen readers. */
export function VolumeChart({ summary }: { summary: SummaryBody }) {
  const { t, locale, brl, usdc } = useWords()
  const [seen, setSeen] = useState<Day | null>(null)
  const { periods: days, total } = summary
  const { ref, width } = useElementSize<HTMLElement>()
  const top = scaleTop(days)
  const reais = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })
  const levels = [0n, top / 2n, top].map(level => ({ level, label: `R$\u00a0${reais.format(Number(level) / 100)}` }))
  const left = Math.max(...levels.map(({ label }) => label.length)) * CHARACTER + GAP
  const step = Math.max(1, (width - left) / days.length)
  const month = step < DATE_WIDTH ? 'numeric' : 'short'
  const namedEvery = Math.ceil((month === 'short' ? DATE_WIDTH : SHORT_DATE_WIDTH) / step)
  const bar = Math.min(step * 0.62, 56)
  // A share of the drawing, not an amount: this is where a number is right.
  const heightOf = (amount: bigint) => (Number((amount * 1000n) / top) / 1000) * (GROUND - HEAD)
  const name = (day: Day, as: 'short' | 'numeric' = 'short') =>
    new Date(`${day.date}T12:00:00`).toLocaleDateString(locale, { day: 'numeric', month: as })
  const isNamed = (index: number) => (days.length - 1 - index) % namedEvery === 0
  return (
    <figure className="chart" ref={ref}>
      <svg
        viewBox={`0 0 ${Math.max(width, 1)} ${HEIGHT}`}
        height={HEIGHT}
        role="img"
        aria-label={t.overview.chart(brl(total.brl_amount))}
        onMouseLeave={() => setSeen(null)}
      >
        {levels.map(({ level, label }) => (
          <g key={String(level)}>
            <line x1={left} x2={width} y1={GROUND - heightOf(level)} y2={GROUND - heightOf(level)} className="level" />
            <text x={left - GAP} y={GROUND - heightOf(level) + 4} textAnchor="end">
              {label}
            </text>
          </g>
        ))}
        {days.map((day, index) => {
          const height = day.payments > 0 ? Math.max(3, heightOf(heightUnits(day))) : 0
          const start = left + index * step
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: a hint for the mouse; the table below holds the same figures
            <g key={day.date} onMouseEnter={() => setSeen(day)}>
              <rect x={start} y="0" width={step} height={HEIGHT} className="field" />
              <rect
                x={start + (step - bar) / 2}
                y={GROUND - height}
                width={bar}
                height={height}
                rx={Math.min(4, height / 2)}
                className={seen === day ? 'bar seen' : 'bar'}
              />
              {isNamed(index) && (
                <text x={Math.min(start + step / 2, width - SHORT_DATE_HALF)} y={HEIGHT - 5} textAnchor="middle">
                  {name(day, month)}
                </text>
              )}
            </g>
          )
        })}
      </svg>
      <figcaption aria-hidden="true">
        {seen
          ? `${name(seen)}: ${brl(seen.brl_amount)}, ${usdc(seen.gross)} (${seen.payments})`
          : total.payments > 0
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
              <td>{brl(day.brl_amount)}</td>
              <td>{usdc(day.gross)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}
