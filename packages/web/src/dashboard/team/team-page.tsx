import { Button } from '@mantine/core'
import { useState } from 'react'
import { Allowed } from '../api/use-memberships'
import { Heading } from '../frame/heading'
import { usePageTitle } from '../frame/page-title'
import { useWords } from '../texts/words'
import { ChangesCard } from './audit/changes-card'
import { InviteDialog } from './invite-dialog'
import { KeysCard } from './keys-card'
import { MailCard } from './mail-card'
import { InvitationsCard, MembersCard } from './members-card'
import { useNameOf } from './use-team'
import './team.css'

/** Who works for the merchant, with which keys, and what was changed. A card that the user may not see is not there. */
export function TeamPage() {
  const { t } = useWords()
  usePageTitle(t.team.title)
  const [isInviting, setInviting] = useState(false)
  const nameOf = useNameOf()
  return (
    <>
      <Heading title={t.team.title}>
        <Allowed to="createInvitation">
          <Button onClick={() => setInviting(true)}>{t.team.invite}</Button>
        </Allowed>
      </Heading>
      <p className="lead">{t.team.lead}</p>
      <MembersCard />
      <InvitationsCard />
      <KeysCard nameOf={nameOf} />
      <MailCard />
      <ChangesCard nameOf={nameOf} />
      <InviteDialog opened={isInviting} onClose={() => setInviting(false)} />
    </>
  )
}
