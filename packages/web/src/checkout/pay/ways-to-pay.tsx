import { type FunctionComponent, useEffect, useState } from 'react'
import { PaymentMethods, type PaymentMethodsProps } from './payment-methods'

/** Where there are several networks, the payer chooses one first, in a part of the page that no other payer loads. */
export function WaysToPay(props: PaymentMethodsProps) {
  const isChoice = props.checkout.payment.networks
  const [Choice, setChoice] = useState<FunctionComponent<PaymentMethodsProps> | null>(null)
  useEffect(() => {
    if (isChoice)
      void import('../parts').then(
        parts => setChoice(() => parts.NetworkChoice),
        // The first network alone is right as well.
        () => setChoice(() => PaymentMethods),
      )
  }, [isChoice])
  const Shown = isChoice ? Choice : PaymentMethods
  return Shown && <Shown {...props} />
}
