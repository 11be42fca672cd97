import { z } from 'zod'
import type { Permission } from '../api/account/access'
import type { MailTopic } from '../api/account/mail'
import { periodIndexInPath } from '../api/subscription/subscription'
import type { ErrorCode } from '../errors'
import { address, id } from '../fields'
import type { AnswerName } from './answers'

export const METHODS = ['get', 'post', 'patch', 'delete'] as const
export type Method = (typeof METHODS)[number]

/** `link`: the id or the token in a payer's link. `internal`: the gateway asks its owner for itself, and no client reaches it. */
export type Credential = 'api_key' | 'session' | 'link' | 'internal'
export type OperationOwner = 'api-gateway' | 'orders' | 'subscriptions' | 'webhook-dispatcher' | 'chain-listener' | 'sandbox'

/** One operation of the interface: the gateway, its owner, the document and the clients are made of this and of nothing beside it. */
export interface Operation {
  method: Method
  path: string
  /** Its name in the document at the path below `/merchants/me`, by which only sessions reached it at first. */
  alias?: string
  /** Empty where none is asked for. */
  credentials: readonly Credential[]
  /** Specification, Merchant API: the path itself needs an API key, and a session takes the alias. */
  keyAlone?: true
  /** Required of the credential; null where no merchant is asked for. */
  permission: Permission | null
  /** Permissions required beside that. */
  also?: readonly Permission[]
  owner: OperationOwner
  tag: string
  summary: string
  description?: string
  query?: z.ZodType
  body?: z.ZodType
  /** A body as the document shows it: some fields exclude each other, so it cannot be made of the schema. */
  example?: object
  /** Status to the schema of its JSON; a stream, a list as CSV and a file of another format have types of their own. */
  answers: Partial<Record<200 | 201 | 202, AnswerName | 'stream' | 'csv' | 'file'>>
  /** Beyond those that its credential, its body and its path bring with them. */
  errors?: readonly ErrorCode[]
  /** Takes an Idempotency-Key though no API key reaches it, or takes none because it changes nothing: every other POST that one reaches takes it. */
  keyed?: boolean
  audit?: string
  /** A session needs a login of the last minutes; `fresh_of_member`: where its user belongs to a merchant already. */
  login?: 'fresh' | 'fresh_of_member'
  /** Its owner judges by who belongs to the merchant now. */
  judgesMembers?: true
  /** The change is in force after the owners have had time to cancel it. */
  waits?: keyof typeof WAITS
  /** Members who receive mail about this are informed, and endpoints that chose `account.changed`. */
  informs?: MailTopic
  /** Its answer holds a secret that it made, or one that was shown before: to a login of the last minutes, with a row in the audit log and mail. */
  secret?: 'made' | 'shown'
  /** Not while an operator has frozen the account. */
  whileFrozen?: 'refused'
  /** Anyone with the link opens an order by it. */
  opensByLink?: true
  /** A program does it by the thousand, and what it makes is its own record. */
  unrecordedByKey?: true
  /** Has a mail sent, always or where the body has this field; refused by an installation that sends none. */
  needsMail?: 'always' | 'email'
  /** Seconds for which anyone may keep its answer, which is the same for all. */
  cachedS?: number
  /** The operation by which its caller reads what a 201 made. */
  creates?: string
}

/**
 * Waiting changes: the default delay, the operation that undoes it, and who may do that: members who were owners when it was requested, whatever they are by then,
 * and who has this permission.
 */
export const WAITS = {
  owners: { defaultDelayS: 172_800, undo: 'cancelWaitingChange', undoneBy: ['owner_when_requested'] },
  payout_address: { defaultDelayS: 172_800, undo: 'cancelWaitingChange', undoneBy: ['owner_when_requested', 'merchant:write'] },
} as const

/** Recipients of mail and events about a change: members by mail, owners always and others as they choose, and endpoints that chose `account.changed`. */
export const INFORMED = ['owners', 'members_who_chose', 'endpoints'] as const

type Rest = Omit<Operation, 'method' | 'path' | 'credentials'>

/** Ends or changes something of the account, or gives money away. */
export const ends = { login: 'fresh', informs: 'account' } as const
export const guarded = { ...ends, whileFrozen: 'refused' } as const

export const owned = ['forbidden', 'not_found'] as const
export const priced = ['payout_address_required', 'orders_paused', 'rate_unavailable'] as const

const writer =
  <const C extends readonly Credential[]>(credentials: C) =>
  <const M extends Method, const P extends string, const O extends Rest>(method: M, path: P, rest: O) => ({
    ...rest,
    method,
    path: `/api/v1${path}` as const,
    credentials,
  })

export const byEither = writer(['api_key', 'session'])
export const byKey = writer(['api_key'])
export const bySession = writer(['session'])
export const byLink = writer(['link'])
const internally = writer(['internal'])

export const internal = <const M extends Method, const P extends string, const O extends Pick<Operation, 'owner' | 'query' | 'body'>>(
  method: M,
  path: P,
  rest: O,
) => internally(method, path, { ...rest, permission: null, tag: 'Internal', summary: 'Asked by the gateway', answers: {} })

/** All pages of a list as one file. */
export const file = <const P extends string, const O extends Omit<Rest, 'summary' | 'description' | 'answers'>>(
  path: P,
  rest: O,
  of: string,
  columns = '',
) =>
  byEither('get', path, {
    ...rest,
    summary: `All pages of a list of ${of} as one file`,
    description:
      `RFC 4180 in UTF-8, in the order of the list. ${columns}A text that a spreadsheet would take for a formula begins with an apostrophe. ` +
      'A file that breaks off is not complete.',
    answers: { 200: 'csv' },
  })

/** Meaning of a name in a path, wherever it stands. */
export const pathParameters = { id, order_id: id, payer_token: id, period_index: periodIndexInPath, address } as const

type NamesIn<Path extends string> = Path extends `${infer Segment}/${infer Rest}`
  ? NamesIn<Segment> | NamesIn<Rest>
  : Path extends `:${infer Name}`
    ? Name
    : never
type PathParameters = typeof pathParameters

/** A caller's values in the path, as its owner reads them. */
export type ParamsOf<O extends Pick<Operation, 'path'>> = {
  [Name in NamesIn<O['path']> & keyof PathParameters]: z.output<PathParameters[Name]>
}
export type QueryOf<O> = O extends { query: infer Query extends z.ZodType } ? z.output<Query> : Record<string, never>
export type BodyOf<O> = O extends { body: infer Body extends z.ZodType } ? z.output<Body> : Record<string, never>

const nothing = z.strictObject({})
export const namesIn = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].flatMap(([, name]) => name ?? [])
const isParameter = (name: string): name is keyof PathParameters => Object.hasOwn(pathParameters, name)

/** The schemas by which an operation judges what it is sent. */
export function judges(operation: Operation): { path: z.ZodType<Record<string, string | number>>; query: z.ZodType; body: z.ZodType } {
  const names = namesIn(operation.path)
  return {
    path: z.object(Object.fromEntries(names.filter(isParameter).map(name => [name, pathParameters[name]]))),
    query: operation.query ?? nothing,
    body: operation.body ?? nothing,
  }
}

/** Where an operation stands: by its own path and, where it has one, by the older one below `/merchants/me`. */
export interface Place {
  path: string
  credentials: readonly Credential[]
  isAlias: boolean
}
export function placesOf({ path, alias, credentials, keyAlone }: Operation): Place[] {
  const own: Place = { path, isAlias: false, credentials: keyAlone ? ['api_key'] : credentials }
  return alias === undefined ? [own] : [own, { path: aliasPath(path), isAlias: true, credentials }]
}
export const aliasPath = (path: string): string => path.replace('/api/v1', '/api/v1/merchants/me')

export const pathWith = (path: string, params: Readonly<Record<string, string | number>>): string =>
  path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])))

/** Its answer is passed on in parts, as long as it may be. */
export const isFile = ({ answers }: Pick<Operation, 'answers'>): boolean => answers[200] === 'csv' || answers[200] === 'file'

/** Every POST of the API-key surface takes an Idempotency-Key. */
export const isKeyed = ({ method, credentials, keyed }: Pick<Operation, 'method' | 'credentials' | 'keyed'>): boolean =>
  keyed ?? (method === 'post' && credentials.includes('api_key'))
