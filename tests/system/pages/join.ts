import type { Role } from '@ponte/contracts'
import { openDatabase } from '@ponte/service-kit'
import { world } from '../../world'
import { PASSWORD } from './every-page'

/** Lets a person of a role into a merchant. */
export async function join(role: Role, email: string, merchantId: string): Promise<void> {
  const userId = await world.identity.ensureUser(email, PASSWORD)
  const database = openDatabase({ url: world.place.databaseUrl('api-gateway'), poolSize: 1 })
  await database.query(
    'INSERT INTO members (id, merchant_id, user_id, email, role, created_at) VALUES (gen_random_uuid(), $1, $2, $3, $4, now())',
    [merchantId, userId, email, role],
  )
  await database.stop?.()
}
