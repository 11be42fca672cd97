import {
  ApiError,
  aliasPath,
  type Caller,
  invalidField,
  isFile,
  isKeyed,
  judges,
  type Operation,
  type OperationId,
  operations,
  type Place,
  pathWith,
} from '@ponte/contracts'
import { parseRequest } from '@ponte/service-kit'
import type { Request, RequestHandler, Response } from 'express'
import { type ForwardedAnswer, forward } from './forward'
import { forwardStream } from './forward-stream'
import type { Owner } from './owner'
import { fieldsOf, type RequestedChange } from './recorded'

type OwnerName = 'orders' | 'subscriptions' | 'webhook-dispatcher'
/** The chain listener need not be there, and the sandbox is there in tests alone. */
export type Owners = Record<OwnerName, Owner> & { 'chain-listener'?: Owner; sandbox?: Owner }

/** Writes a change that an owner is asked for to the audit log, and answers what is to be called with the owner's answer. */
export type AuditTrail = (change: RequestedChange, res: Response) => Promise<(answer: ForwardedAnswer) => Promise<void>>

/** Whether an answer may hold secrets, and what is to be called before one does that holds some of before. */
export interface Shown {
  isShown: boolean
  note(target: string | null): Promise<void>
}

export interface Forwarding {
  owners: Owners
  trail: AuditTrail
  callerIn(res: Response, maySeeSecrets: boolean): Caller
  /** Whether the answer to this may hold secrets, and what records that it does. */
  shownSecret(res: Response, operation: Operation): Promise<Shown>
  memberIds(res: Response): Promise<string[]>
  isByKey(res: Response): boolean
  isMailing: boolean
}

export function forwarding(
  { owners, trail, callerIn, shownSecret, memberIds, isByKey, isMailing }: Forwarding,
  operation: Operation,
  { isAlias }: Place,
): RequestHandler {
  const { path, audit, unrecordedByKey, creates, cachedS, judgesMembers } = operation
  const owner = operation.owner === 'api-gateway' ? undefined : owners[operation.owner]
  if (!owner && operation.owner === 'chain-listener') return refuseUnread
  if (!owner) throw new Error(`${path} has neither an owner nor a handler.`)
  const created = creates === undefined ? undefined : operations[creates as OperationId].path
  const createdAt = created && (isAlias ? aliasPath(created) : created)
  const { path: names } = judges(operation)
  const work = async (req: Request, res: Response) => {
    // Only valid ids and numbers are put into the owner's path, so that no input can leave its route.
    const params = parseRequest(names, req.params, 'path')
    const ownerPath = pathWith(path, params)
    if (!isMailing) refuseMail(operation, req.body)
    const { isShown, note } = await shownSecret(res, operation)
    const asking = callerIn(res, isShown)
    const caller = judgesMembers && asking.kind === 'merchant' ? { ...asking, member_ids: await memberIds(res) } : asking
    if (isFile(operation)) return forwardStream(owner, caller, ownerPath, req, res)
    const isRecorded = audit !== undefined && !(unrecordedByKey && isByKey(res))
    const target = params.id === undefined ? null : String(params.id)
    const change = isRecorded && {
      action: audit,
      isInforming: operation.informs !== undefined,
      makesSecret: operation.secret === 'made',
      changed: fieldsOf(req.body),
      target,
    }
    const record = change && (await trail(change, res))
    const onAnswer = async (answer: ForwardedAnswer) => {
      // Without its row no secret is shown.
      if (answer.status === 200) await note(target)
      if (record) await record(answer)
    }
    const options = { createdAt, cachedS, isKeyed: isKeyed(operation), onAnswer }
    await forward(owner, caller, ownerPath, req, res, options)
  }
  return (req, res) => {
    const working = work(req, res)
    // A file ends with its connection.
    if (!isFile(operation)) res.locals.work = working
    return working
  }
}

const refuseUnread: RequestHandler = () => {
  throw new ApiError('service_unavailable', 'The chain cannot be asked about here.', { retryAfterS: 300 })
}

/** Owners do not know whether mail is sent: what waits for one that never comes is refused before anything is made. */
function refuseMail({ needsMail }: Operation, body: unknown): void {
  if (needsMail === 'always')
    throw new ApiError('invalid_state', 'This installation sends no mail, so no link takes a code: ask the shop for another one.')
  if (needsMail === undefined || !fieldsOf(body).includes(needsMail)) return
  throw invalidField(needsMail, 'cannot be given: this installation sends no mail')
}
