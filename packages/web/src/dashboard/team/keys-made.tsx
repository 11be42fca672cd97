import { Checkbox } from '@mantine/core'
import type { MemberBody } from '@ponte/contracts'
import { useWords } from '../texts/words'
import { useKeys } from './use-team'

interface KeysMadeProps {
  member: MemberBody
  text(keys: string): string
  keeps: boolean
  onChoose(keeps: boolean): void
}

/** Asks what becomes of the keys that the member made. */
export function KeysMade({ member, text, keeps, onChoose }: KeysMadeProps) {
  const { t } = useWords()
  const made = useKeys().data?.filter(({ created_by }) => created_by === member.user_id) ?? []
  if (made.length === 0) return null
  return (
    <>
      <p>{text(made.map(key => key.name).join(', '))}</p>
      <Checkbox label={t.team.keepKeys} checked={keeps} onChange={event => onChoose(event.currentTarget.checked)} />
    </>
  )
}
