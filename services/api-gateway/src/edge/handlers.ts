import type { OperationId, Operations } from '@ponte/contracts'
import type { Asked } from '@ponte/service-kit'
import type { Request, Response } from 'express'

/** Operations that the gateway answers itself. */
export type OwnOperation = { [Id in OperationId]: Operations[Id]['owner'] extends 'api-gateway' ? Id : never }[OperationId]

export type Handlers = {
  [Id in OwnOperation]: (asked: Asked<Operations[Id]>, req: Request, res: Response) => Promise<unknown> | unknown
}

export const handling = <Some extends Partial<Handlers>>(some: Some): Pick<Handlers, keyof Some & OwnOperation> =>
  some as Pick<Handlers, keyof Some & OwnOperation>
