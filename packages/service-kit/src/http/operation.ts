import {
  type BodyOf,
  type Caller,
  isKeyed,
  judges,
  type MerchantTerms,
  type Operation,
  type ParamsOf,
  type QueryOf,
  termsOf,
} from '@ponte/contracts'
import type { Request, Response, Router } from 'express'
import type { Sql } from '../database/sql'
import type { Answer } from '../database/unit-of-work'
import { answerOnce, type KeyedRequest, keyedRequest, sendAnswer } from './idempotency'
import { parseRequest } from './request'

/** A request for an operation, as the schemas of its row read it. */
export interface Asked<O extends Operation> {
  params: ParamsOf<O>
  query: QueryOf<O>
  body: BodyOf<O>
}

/** Reads requests for an operation, before anything is looked up. Throws `invalid_request`. */
export function reader<O extends Operation>(operation: O): (req: Request, body: unknown) => Asked<O> {
  const { path, query, body } = judges(operation)
  return (req, given) => {
    const params = parseRequest(path, req.params, 'path')
    const asked = { params, query: parseRequest(query, req.query, 'query') }
    return { ...asked, body: operation.method === 'get' ? {} : parseRequest(body, given, 'body') } as Asked<O>
  }
}

/** The same at an owner; `terms` are those of the merchant who may ask. */
export type OwnersAsked<O extends Operation> = Asked<O> & { caller: Caller } & (O['permission'] extends null
    ? unknown
    : { terms: MerchantTerms })

type Answering<O extends Operation> = (asked: OwnersAsked<O>, req: Request, res: Response) => unknown

/** Serves an operation at its owner. Throws `forbidden` for a payer where the row wants a merchant's permission. */
export function serve<O extends Operation>(router: Router, operation: O, answer: Answering<O>): void {
  if (isKeyed(operation)) throw new Error(`${operation.path} takes an Idempotency-Key: have serveOnce serve it.`)
  serveRow(router, operation, answer)
}

/**
 * Serves an operation that takes an Idempotency-Key, once per key (`answerOnce`): the work stores what it answers with its effect, by `answersTo(keyed, …)`.
 * `send` shows an answer that is not stored as it is sent.
 */
export function serveOnce<O extends Operation>(
  router: Router,
  operation: O,
  database: Sql,
  work: (asked: OwnersAsked<O> & { terms: MerchantTerms; keyed: KeyedRequest | null }) => Promise<Answer>,
  send?: (answer: Answer, asked: OwnersAsked<O>) => Promise<Answer>,
): void {
  if (!isKeyed(operation) || operation.permission === null) throw new Error(`${operation.path} takes no Idempotency-Key.`)
  serveRow(router, operation, async (asked, req, res) => {
    const terms = termsOf(asked.caller)
    const keyed = keyedRequest(req, terms.merchant_id)
    const sent = send && (async (answer: Answer) => sendAnswer(res, await send(answer, asked)))
    await answerOnce(database, keyed, res, () => work({ ...asked, terms, keyed }), sent)
  })
}

function serveRow<O extends Operation>(router: Router, operation: O, answer: Answering<O>): void {
  const read = reader(operation)
  router[operation.method](operation.path, async (req, res) => {
    const caller: Caller = res.locals.caller
    const who = { caller, ...(operation.permission === null ? {} : { terms: termsOf(caller) }) }
    await answer({ ...who, ...read(req, req.body) } as OwnersAsked<O>, req, res)
  })
}
