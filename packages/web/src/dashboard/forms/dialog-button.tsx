import { Button, type ButtonProps } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Dialog } from './dialog'

interface DialogButtonProps extends Pick<ButtonProps, 'disabled' | 'size' | 'variant'> {
  title: string
  children(close: () => void): ReactNode
}

/** A button, and the dialog of its name that it opens. */
export function DialogButton({ title, children, ...buttonProps }: DialogButtonProps) {
  const [isAsked, setAsked] = useState(false)
  const close = () => setAsked(false)
  return (
    <>
      <Button {...buttonProps} onClick={() => setAsked(true)}>
        {title}
      </Button>
      <Dialog title={title} opened={isAsked} onClose={close}>
        {children(close)}
      </Dialog>
    </>
  )
}
