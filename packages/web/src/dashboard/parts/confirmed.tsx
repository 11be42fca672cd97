import { Button, Modal } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useWords } from '../words'
import { Failure } from './states'

/** A button for what cannot be undone: it asks first. */
export function Confirmed<T>(of: { action: string; question: string; work(): Promise<T>; onDone(result: T): void }) {
  const { t } = useWords()
  const [asked, setAsked] = useState(false)
  const work = useMutation({
    mutationFn: of.work,
    onSuccess: result => {
      setAsked(false)
      of.onDone(result)
    },
  })
  return (
    <>
      <Button variant="default" onClick={() => setAsked(true)}>
        {of.action}
      </Button>
      <Modal
        opened={asked}
        onClose={() => setAsked(false)}
        title={of.action}
        lockScroll={false}
        closeButtonProps={{ 'aria-label': t.close }}
        centered
      >
        <p>{of.question}</p>
        {work.error && <Failure error={work.error} />}
        <div className="buttons">
          <Button variant="default" onClick={() => setAsked(false)}>
            {t.cancel}
          </Button>
          <Button loading={work.isPending} onClick={() => work.mutate()}>
            {t.settings.sure}
          </Button>
        </div>
      </Modal>
    </>
  )
}
