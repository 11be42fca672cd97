import { MERCHANT_HEADER, type Method, type OperationId, operationList, pathWith, placesOf } from '@ponte/contracts'
import { Wallet } from 'ethers'
import request from 'supertest'
import { bearer, newMerchant, OWNER_DAYS_MS, runGateway, settleAccounts, system } from './world'
import { joins, logIn, newUser, type User } from './world/people'
import { ANY_ID, type Recipe, recipes, type Scene } from './world/recipes'

// Who has owned a merchant for long and logged in a moment ago may do all that a session may; who joined as an owner a moment ago may do nothing of it that counts.

const at = { ms: Date.parse('2026-11-20T12:00:00.000Z') }
const now = () => new Date(at.ms)
const ME = '/api/v1/merchants/me'
const PAYOUT = Wallet.createRandom()
runGateway({ RATE_LIMIT_CHANGES_PER_MINUTE: '100000' }, { now })

/** Each request by a login of this moment, with a session of its own. */
const ask = async (user: User, method: Method, path: string, body: object = {}, headers: Record<string, string> = {}) => {
  const token = system.identity.sign({ ...user, email_verified: true, session_id: `${user.sub} at ${at.ms}` })
  return await request(system.url)[method](path).set(bearer(token)).set(headers).send(body)
}
const found = async (user: User): Promise<string> =>
  (await newMerchant(system, { display_name: 'Padaria', payout_address: PAYOUT.address }, user.sub)).merchant.id

const ofSession = operationList.filter(([, { credentials }]) => credentials.includes('session'))
const placeOf = (id: OperationId) => {
  const operation = ofSession.find(([other]) => other === id)?.[1]
  const path = operation && placesOf(operation).find(({ credentials }) => credentials.includes('session'))?.path
  if (!operation || path === undefined) throw new Error(`No session reaches ${id}.`)
  return { operation, path }
}

/** For what changes nothing. */
let standing: ReturnType<typeof threeOwners> | undefined
async function threeOwners() {
  const [owner, second, third] = [newUser(), newUser(), newUser()]
  const merchantId = await found(owner)
  const join = (user: User) => joins(system, logIn(system, owner), user, 'owner')
  const [, thirdId = ''] = [await join(second), await join(third)]
  at.ms += OWNER_DAYS_MS.delay
  for (let n = 0; n < 3; n++) await settleAccounts(system, now)
  at.ms += OWNER_DAYS_MS.delay
  const elsewhere = newUser()
  await found(elsewhere)
  /** They are invited by another merchant. */
  const invited = async (user: User): Promise<Recipe> => ({
    body: { token: (await ask(elsewhere, 'post', `${ME}/invitations`, { email: user.email, role: 'viewer' })).body.token },
  })
  return { owner, second, thirdId, merchantId, invited }
}

test.each(ofSession.map(([id]) => id))('%s: an owner of before who logged in a moment ago may', async id => {
  const { operation, path } = placeOf(id)
  if (operation.method === 'get') standing ??= threeOwners()
  const { owner, second, thirdId, merchantId, invited } = await (operation.method === 'get' && standing ? standing : threeOwners())
  // What another owner requested is approved and confirmed.
  const isAgreed = ['approvePayoutChange', 'confirmWaitingChange'].includes(id)
  const scene: Scene = {
    ask: async (method, at, body) => (await ask(isAgreed ? second : owner, method, at, body)).body,
    ...{ wallet: Wallet.createRandom(), payoutWallet: PAYOUT, memberId: async () => thirdId, invitee: newUser().email },
  }
  const { params, body }: Recipe = await (id === 'acceptInvitation' ? invited(owner) : (recipes[id]?.(scene) ?? {}))
  const target = pathWith(path, { id: ANY_ID, period_index: 0, ...params })
  const answer = await ask(owner, operation.method, target, body ?? operation.example, { [MERCHANT_HEADER]: merchantId })
  expect(['fresh_login_required', 'second_factor_required', 'forbidden', 'invalid_jwt']).not.toContain(answer.body.code)
  // Where the account answers by itself, what is asked for is done; the overview and an explanation are made of what their owners answer, and these are an echo here.
  const isAnswered = operation.owner === 'api-gateway' && operation.tag !== 'Dashboard' && id !== 'explainOrder'
  if (isAnswered && !UNDONE[id]) expect([id, answer.status < 300]).toEqual([id, true])
  else if (UNDONE[id]) expect([id, answer.body.code]).toEqual([id, UNDONE[id]])
})
/** There is something in the way that no right overcomes. */
const UNDONE: Partial<Record<OperationId, string>> = {
  createMerchant: 'merchant_exists',
  getApiKey: 'not_found',
  getInvitation: 'not_found',
}

describe('where no permission is asked for, who joined as an owner a moment ago', () => {
  const free = ofSession.filter(([, { permission }]) => permission === null)
  /** What concerns them alone; of the merchant they see and stop nothing. */
  const expected: Partial<Record<OperationId, number>> = {
    ...{ listMerchants: 200, createMerchant: 201, acceptInvitation: 200, listWaitingChanges: 200 },
    ...{ cancelWaitingChange: 404, confirmWaitingChange: 404 },
    ...{ listSessions: 200, endSession: 200, endOtherSessions: 200 },
  }

  test.each(free.map(([id]) => id))('%s', async id => {
    const { operation, path } = placeOf(id)
    const { owner, second, thirdId, invited } = await threeOwners()
    const joined = newUser()
    await joins(system, logIn(system, owner), joined, 'owner')
    const scene: Scene = {
      ask: async (method, at, body) => (await ask(id === 'endSession' ? joined : second, method, at, body)).body,
      ...{ wallet: Wallet.createRandom(), payoutWallet: PAYOUT, memberId: async () => thirdId, invitee: newUser().email },
    }
    const { params, body }: Recipe = await (id === 'acceptInvitation' ? invited(joined) : (recipes[id]?.(scene) ?? {}))
    const answer = await ask(joined, operation.method, pathWith(path, { id: ANY_ID, ...params }), body ?? operation.example)
    expect([id, answer.status]).toEqual([id, expected[id]])
    if (id === 'listWaitingChanges') expect(answer.body.data).toEqual([])
    if (id === 'listMerchants') expect(answer.body.data).toMatchObject([{ role: 'viewer' }])
    // What waits, waits on: their own joining, and what the second owner asked for.
    const { body: waiting } = await ask(owner, 'get', '/api/v1/waiting-changes')
    expect(waiting.data).toHaveLength(id.endsWith('WaitingChange') ? 2 : 1)
  })
})
