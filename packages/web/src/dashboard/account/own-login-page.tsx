import { userEmail } from '../api/session'
import { Columns } from '../elements/card'
import { Heading } from '../frame/heading'
import { usePageTitle } from '../frame/page-title'
import { useWords } from '../texts/words'
import { FactorCard } from './factor-card'
import { PasswordCard } from './password-card'
import { SessionsCard } from './sessions-card'

/** The user's own login, which is theirs at every store. */
export function OwnLoginPage() {
  const { t } = useWords()
  usePageTitle(t.signIn.own.title)
  const email = userEmail()
  return (
    <>
      <Heading title={t.signIn.own.title} />
      {email && <p className="lead">{t.signIn.own.lead(email)}</p>}
      <Columns>
        <div>
          <PasswordCard />
          <FactorCard />
        </div>
        <SessionsCard />
      </Columns>
    </>
  )
}
