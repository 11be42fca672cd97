import { useMediaQuery } from '@mantine/hooks'
import { formatBrl, formatUsdc } from '@ponte/contracts/money'
import { useState } from 'react'
import type { Day, Volumes } from './volumes'
import { useWords } from './words'

const [WIDE, NARROW, HEIGHT, FOOT] = [720, 330, 190, 24]

/** One bar a day. What a bar says is told in words below it while it is looked at, and in a table to those who cannot see it. */
export function VolumeChart({ volumes }: { volumes: Volumes }) {
  const { t, locale, brl, usdc } = useWords()
  const [seen, setSeen] = useState<Day | null>(null)
  const { days } = volumes
  const narrow = useMediaQuery('(max-width: 40rem)', false, { getInitialValueInEffect: false })
  const width = narrow ? NARROW : WIDE
  const most = days.reduce((top, day) => (day.brl > top ? day.brl : top), 1n)
  const step = width / days.length
  const bar = Math.min(step * 0.62, 56)
  // A share of the drawing, not an amount: this is where a number is right.
  const heightOf = (day: Day) => (Number((day.brl * 1000n) / most) / 1000) * (HEIGHT - FOOT - 8)
  const name = (day: Day) => new Date(`${day.date}T12:00:00`).toLocaleDateString(locale, { day: 'numeric', month: 'short' })
  const isNamed = (index: number) => (days.length - 1 - index) % (days.length <= 10 ? (narrow ? 2 : 1) : narrow ? 10 : 5) === 0
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={t.overview.chart(brl(volumes.brl))} onMouseLeave={() => setSeen(null)}>
        <line x1="0" x2={width} y1={HEIGHT - FOOT} y2={HEIGHT - FOOT} className="ground" />
        {days.map((day, index) => {
          const height = day.paid > 0 ? Math.max(3, heightOf(day)) : 0
          const left = index * step + (step - bar) / 2
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: a hint for the mouse; the table below says the same to everyone
            <g key={day.date} onMouseEnter={() => setSeen(day)}>
              <rect x={index * step} y="0" width={step} height={HEIGHT} className="field" />
              <rect
                x={left}
                y={HEIGHT - FOOT - height}
                width={bar}
                height={height}
                rx={Math.min(4, height / 2)}
                className={seen === day ? 'bar seen' : 'bar'}
              />
              {isNamed(index) && (
                <text x={index * step + step / 2} y={HEIGHT - 5} textAnchor="middle">
                  {name(day)}
                </text>
              )}
            </g>
          )
        })}
      </svg>
      <figcaption aria-hidden="true">
        {seen ? `${name(seen)}: ${brl(formatBrl(seen.brl))}, ${usdc(formatUsdc(seen.usdc))} (${seen.paid})` : '\u00a0'}
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
