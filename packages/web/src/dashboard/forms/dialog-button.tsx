import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Dialog } from './dialog'

/** A small button, and the dialog of its name that it opens. */
export function DialogButton({ title, children }: { title: string; children(close: () => void): ReactNode }) {
  const [isAsked, setAsked] = useState(false)
  const close = () => setAsked(false)
  return (
    <>
      <Button size="compact-sm" onClick={() => setAsked(true)}>
        {title}
      </Button>
      <Dialog title={title} opened={isAsked} onClose={close}>
        {children(close)}
      </Dialog>
    </>
  )
}
