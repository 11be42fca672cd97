import { z } from 'zod'
import type { System } from '../start-all'
import type { Movement } from './clock'

const answered = z.object({ next_at: z.string().nullish(), next_in_s: z.number().nullish() })

/** Of the five services in this process, asked on their inner ports. */
export function movementOf({ opsUrls, idle }: System): Movement {
  const ask = async (url: string) => {
    const answer = await fetch(url, { method: 'POST' })
    if (!answer.ok) throw new Error(`${url} answered ${answer.status}.`)
    return answered.parse(await answer.json())
  }
  return {
    async due() {
      await ask(`${opsUrls.orders}/due`)
      const { next_at } = await ask(`${opsUrls.subscriptions}/due`)
      return next_at == null ? null : new Date(next_at)
    },
    async hurry(seconds) {
      const { next_in_s } = await ask(`${opsUrls['webhook-dispatcher']}/hurry?seconds=${seconds}`)
      return next_in_s ?? null
    },
    idle,
  }
}
