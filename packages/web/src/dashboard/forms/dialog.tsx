import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { useWords } from '../texts/words'
import './form.css'

export interface Opened {
  opened: boolean
  onClose(): void
}

/** Something to fill in or to confirm, over the page. What is in it begins anew each time it opens. */
export function Dialog({ title, opened, onClose, children }: Opened & { title: string; children: ReactNode }) {
  const { t } = useWords()
  return (
    <Modal opened={opened} onClose={onClose} title={title} lockScroll={false} closeButtonProps={{ 'aria-label': t.close }} centered>
      {opened && children}
    </Modal>
  )
}
