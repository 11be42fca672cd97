import { ApiError, MAIL_TOPICS, type MailPreferencesBody, type MailTopic, role as roleSchema, topicsOf } from '@ponte/contracts'
import type { Response } from 'express'
import { userIn, verifiedEmailOf } from '../credentials/credentials'
import { handling } from '../edge/handlers'
import { type AccountDeps, actor, own } from './changes'
import { merchantIdIn } from './membership'

export function mailHandlers({ store, isMailing, provider }: AccountDeps) {
  const membership = async (res: Response) => {
    const found = await store.members.find(merchantIdIn(res), userIn(res).id)
    if (!found) throw new ApiError('not_found', 'You were removed meanwhile.')
    return found
  }
  return handling({
    async getMailPreferences(_asked, _req, res) {
      res.json(preferencesBody(await membership(res), isMailing))
    },
    async updateMailPreferences({ body: { language, topics } }, _req, res) {
      const member = await membership(res)
      const email = await verifiedEmailOf(res, provider)
      const isMoved = email !== null && member.email !== null && email !== member.email
      // A thief would have a member learn of less, or in another place: the mail goes to the address of before. The language hides nothing.
      const chosen = topics && !isSame(topics, member.mailTopics?.split(',') ?? preferencesBody(member, isMailing).topics) ? topics : null
      const changed = [...(chosen ? ['mail_topics'] : []), ...(isMoved ? ['mail_address'] : [])]
      if (changed.length > 0) await store.auditLog.note(await own(store, res), 'mail.update', changed, actor(res))
      await store.members.setMail(member.id, email, language ?? null, chosen)
      res.json(preferencesBody(await membership(res), isMailing))
    },
  })
}

const isSame = (some: readonly string[], others: readonly string[]) =>
  some.every(one => others.includes(one)) && others.every(one => some.includes(one))

interface MailMember {
  email: string | null
  role: string
  mailLanguage: string | null
  mailTopics: string | null
}

function preferencesBody({ email, role, mailLanguage, mailTopics }: MailMember, isMailing: boolean): MailPreferencesBody {
  const known = roleSchema.safeParse(role).data
  const possible = known ? topicsOf(known) : []
  const chosen = mailTopics?.split(',')
  const fixed: MailTopic[] = known === 'owner' ? ['account'] : []
  const isOn = (topic: MailTopic) => (chosen ? chosen.includes(topic) : MAIL_TOPICS[topic].isDefault) || fixed.includes(topic)
  return {
    ...{ object: 'mail_preferences', email, is_sending: isMailing, language: mailLanguage === 'en' ? 'en' : 'pt' },
    ...{ topics: possible.filter(isOn), possible_topics: possible, fixed_topics: fixed },
  }
}
