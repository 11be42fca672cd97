import type { RecoveryBody } from '@ponte/contracts'
import type { Texts } from '../texts/pt'

export const recoverySentence = ({ status, failure_code: failure }: RecoveryBody, t: Texts): string =>
  failure === null ? t.attention.recoveries[status] : `${t.attention.recoveries.failed} ${t.attention.recoveryFailures[failure]}`
