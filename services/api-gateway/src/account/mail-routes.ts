import {
  ApiError,
  MAIL_TOPICS,
  type MailPreferencesBody,
  type MailTopic,
  role as roleSchema,
  topicsOf,
  updateMailPreferences,
} from '@ponte/contracts'
import { parseRequest } from '@ponte/service-kit'
import { type Response, Router } from 'express'
import { userIn } from '../credentials'
import { jsonBody } from '../json-body'
import type { AccountDeps } from './changes'
import { merchantIdIn } from './membership'

const PATH = '/api/v1/merchants/me/mail'

/** What the member who asks receives by mail. */
export function mailRoutes({ store, session, isMailing }: AccountDeps): Router {
  const router = Router()
  const membership = async (res: Response) => {
    const found = await store.members.find(merchantIdIn(res), userIn(res).id)
    if (!found) throw new ApiError('not_found', 'You were removed meanwhile.')
    return found
  }
  router.get(PATH, ...session, async (_req, res) => {
    res.json(preferencesBody(await membership(res), isMailing))
  })
  router.patch(PATH, ...session, async (req, res) => {
    const { language, topics } = parseRequest(updateMailPreferences, jsonBody(req), 'body')
    const member = await membership(res)
    await store.members.setMail(member.id, userIn(res).verifiedEmail, language ?? null, topics ?? null)
    res.json(preferencesBody(await membership(res), isMailing))
  })
  return router
}

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
