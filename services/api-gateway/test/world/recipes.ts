import type { Method, OperationId } from '@ponte/contracts'
import type { BaseWallet } from 'ethers'

const ME = '/api/v1/merchants/me'
export const ANY_ID = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'

/** A caller and what they have, so that a request of theirs to an operation can succeed. */
export interface Scene {
  /** Asks by the caller's credential; answers the body. */
  ask(method: Method, path: string, body?: object): Promise<Answered>
  /** Of a payout address that the caller asks for. */
  wallet: BaseWallet
  /** Of the payout address in force. */
  payoutWallet: BaseWallet
  /** A member whom the request is about. */
  memberId(): Promise<string>
  /** The address that is invited. */
  invitee: string
}

interface Answered {
  id?: string
  token?: string
  data?: { id: string }[]
  payout_proof?: { message: string } | null
  pending_payout_change?: { id: string; message: string } | null
}

export interface Recipe {
  params?: Record<string, string>
  body?: object
}

const idOf = ({ id = ANY_ID }: Answered) => ({ params: { id } })
const invite = ({ ask, invitee }: Scene) => ask('post', `${ME}/invitations`, { email: invitee, role: 'viewer' })
const removal = async ({ ask, memberId }: Scene) => ask('delete', `${ME}/members/${await memberId()}`)
const payoutChange = async ({ ask, wallet }: Scene) =>
  (await ask('patch', ME, { payout_address: wallet.address })).pending_payout_change ?? { id: ANY_ID, message: '' }

/** What has to come before a request to an operation, and what it is made of; without a recipe it is its example. */
export const recipes: Readonly<Partial<Record<OperationId, (scene: Scene) => Promise<Recipe>>>> = {
  updateMerchant: async () => ({ body: { webhook_url: 'https://example.com/new' } }),
  updateBranding: async () => ({ body: { contact_email: 'ola@padaria.example' } }),
  async signPayoutChange(scene) {
    const { id, message } = await payoutChange(scene)
    return { params: { id }, body: { signature: await scene.wallet.signMessage(message) } }
  },
  async signPayoutAddress({ ask, payoutWallet }) {
    const { payout_proof } = await ask('get', ME)
    return { body: { signature: await payoutWallet.signMessage(payout_proof?.message ?? '') } }
  },
  approvePayoutChange: async scene => idOf(await payoutChange(scene)),
  cancelPayoutChange: async scene => idOf(await payoutChange(scene)),
  async activateWebhookSecret({ ask }) {
    await ask('post', `${ME}/rotate-webhook-secret`)
    return {}
  },
  createApiKey: async () => ({ body: { name: 'ERP', scopes: ['orders:read'] } }),
  revokeApiKey: async ({ ask }) => idOf(await ask('post', `${ME}/api-keys`, { name: 'x', scopes: ['orders:read'] })),
  acceptInvitation: async scene => ({ body: { token: (await invite(scene)).token } }),
  cancelWaitingChange: async scene => idOf(await removal(scene)),
  confirmWaitingChange: async scene => idOf(await removal(scene)),
  updateMember: async ({ memberId }) => ({ params: { id: await memberId() }, body: { role: 'admin' } }),
  removeMember: async ({ memberId }) => ({ params: { id: await memberId() } }),
  createInvitation: async ({ invitee }) => ({ body: { email: invitee, role: 'viewer' } }),
  updateMailPreferences: async () => ({ body: { topics: [] } }),
  revokeInvitation: async scene => idOf(await invite(scene)),
  endSession: async ({ ask }) => idOf((await ask('get', '/api/v1/sessions')).data?.[0] ?? {}),
}
