import { shortened } from '../../amounts'
import { transactionUrl } from '../../networks'
import { CopyValue } from '../elements/copy'
import { useWords } from '../texts/words'

/** A transaction's hash to copy, with a link to the network's explorer where there is one. */
export function TransactionLine({ chainId, hash }: { chainId: number; hash: string }) {
  const { t } = useWords()
  const url = transactionUrl(chainId, hash)
  return (
    <p className="payment-line">
      <span className="faint">
        {url ? (
          <a href={url} target="_blank" rel="noreferrer">
            {t.orders.transaction}
          </a>
        ) : (
          t.orders.transaction
        )}
      </span>
      <CopyValue value={hash} label={t.orders.transaction} shown={shortened(hash, 10)} />
    </p>
  )
}
