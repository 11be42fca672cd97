import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Failure } from '../elements/states'
import { useWords } from '../texts/words'
import { Dialog } from './dialog'

export interface ConfirmedProps<T> {
  /** The verb, on the button that asks and on the one that does. */
  action: string
  question: string
  /** Further choices. */
  children?: ReactNode
  work(): Promise<T>
  onDone(result: T): void
}

/** A button for what cannot be undone: it asks first, in red and by its verb. */
export function Confirmed<T>(of: ConfirmedProps<T>) {
  const [isAsked, setAsked] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setAsked(true)}>
        {of.action}
      </Button>
      <Dialog title={of.action} opened={isAsked} onClose={() => setAsked(false)}>
        <Question {...of} onClose={() => setAsked(false)} />
      </Dialog>
    </>
  )
}

function Question<T>({ action, question, children, work, onDone, onClose }: ConfirmedProps<T> & { onClose(): void }) {
  const { t } = useWords()
  const doing = useMutation({
    mutationFn: work,
    onSuccess: result => {
      onClose()
      onDone(result)
    },
  })
  return (
    <>
      <p>{question}</p>
      {children}
      {doing.error && <Failure error={doing.error} />}
      <div className="buttons">
        <Button variant="default" onClick={onClose}>
          {t.cancel}
        </Button>
        <Button color="red" loading={doing.isPending} onClick={() => doing.mutate()}>
          {action}
        </Button>
      </div>
    </>
  )
}
