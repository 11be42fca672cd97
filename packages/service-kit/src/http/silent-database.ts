import type { ApiError } from '@ponte/contracts'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Database } from '../database/database'
import { unavailable } from './problems'

/** A request that is not answered by then has the database asked for a sign of life, and again after as long. */
const LOOK_AFTER_MS = 400

/**
 * Answers 503 to requests that wait for a database which takes connections and answers nothing (stopped, its disk or machine hanging): no statement of theirs would fail for half a minute. Work
 * that has begun goes on unheard, as after a lost connection; what has not is not begun.
 */
export function answerWithoutDatabase(
  database: Pick<Database, 'isAlive'>,
  answer: (error: ApiError, req: Request, res: Response) => void,
): RequestHandler {
  return (req, res, next) => {
    let timer: NodeJS.Timeout | undefined
    const look = async () => {
      const isAlive = await database.isAlive()
      if (res.headersSent || res.closed) return
      if (isAlive) {
        wait()
        return
      }
      // Work that goes on may still write to it.
      res.on('error', () => undefined)
      answer(unavailable(), req, res)
    }
    const wait = () => {
      timer = setTimeout(() => void look(), LOOK_AFTER_MS)
    }
    res.on('close', () => clearTimeout(timer))
    wait()
    next()
  }
}

/** A request that was answered meanwhile, or whose connection has closed, goes no further. */
export function unlessAnswered(_req: Request, res: Response, next: NextFunction): void {
  if (!res.writableEnded && !res.closed) next()
}
