import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Failure } from '../elements'
import { useWords } from '../texts'
import { Dialog } from './dialog'

export interface ConfirmedProps<T> {
  action: string
  question: string
  work(): Promise<T>
  onDone(result: T): void
}

/** A button for what cannot be undone: it asks first. */
export function Confirmed<T>(of: ConfirmedProps<T>) {
  const [asked, setAsked] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setAsked(true)}>
        {of.action}
      </Button>
      <Dialog title={of.action} opened={asked} onClose={() => setAsked(false)}>
        <Question {...of} onClose={() => setAsked(false)} />
      </Dialog>
    </>
  )
}

function Question<T>({ question, work, onDone, onClose }: ConfirmedProps<T> & { onClose(): void }) {
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
      {doing.error && <Failure error={doing.error} />}
      <div className="buttons">
        <Button variant="default" onClick={onClose}>
          {t.cancel}
        </Button>
        <Button loading={doing.isPending} onClick={() => doing.mutate()}>
          {t.sure}
        </Button>
      </div>
    </>
  )
}
