import { Allowed } from '../api/use-memberships'
import { DialogButton } from '../forms/dialog-button'
import { Heading } from '../frame/heading'
import { usePageTitle } from '../frame/page-title'
import { useWords } from '../texts/words'
import { ChangesCard } from './audit/changes-card'
import { InviteForm } from './invite-form'
import { KeysCard } from './keys-card'
import { MailCard } from './mail-card'
import { InvitationsCard, MembersCard } from './members-card'
import { useNameOf } from './use-team'
import './team.css'

/** Who works for the merchant, with which keys, and what was changed. A card that the user may not see is not there. */
export function TeamPage() {
  const { t } = useWords()
  usePageTitle(t.team.title)
  const nameOf = useNameOf()
  return (
    <>
      <Heading title={t.team.title}>
        <Allowed to="createInvitation">
          <DialogButton title={t.team.invite}>{close => <InviteForm onDone={close} />}</DialogButton>
        </Allowed>
      </Heading>
      <p className="lead">{t.team.lead}</p>
      <MembersCard />
      <InvitationsCard />
      <KeysCard nameOf={nameOf} />
      <MailCard />
      <ChangesCard nameOf={nameOf} />
    </>
  )
}
