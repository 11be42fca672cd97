import { z } from 'zod'
import type { Permission } from './access'
import { ROLE_PERMISSIONS, ROLES, type Role } from './member'

interface Topic {
  /** Which members may have it. */
  needs: Permission
  /** Sent to members who have not chosen. */
  isDefault: boolean
  description: string
}

/** Owners always receive `account`: it is how they notice a stolen session. */
export const MAIL_TOPICS = {
  account: {
    needs: 'merchant:write',
    isDefault: true,
    description: 'Payout address, keys, secrets and members changed, or money was given away',
  },
  webhooks: { needs: 'deliveries:write', isDefault: true, description: 'Deliveries are dead, or an endpoint has failed for a day' },
  attention: { needs: 'orders:write', isDefault: true, description: 'Money came that does not simply settle' },
  subscriptions: { needs: 'subscriptions:write', isDefault: true, description: 'A period ended unpaid' },
  payments: { needs: 'orders:read', isDefault: false, description: 'An order or a subscription was paid' },
} as const satisfies Record<string, Topic>
export type MailTopic = keyof typeof MAIL_TOPICS

const TOPICS = Object.keys(MAIL_TOPICS) as [MailTopic, ...MailTopic[]]
const topic = z.enum(TOPICS).meta({ description: TOPICS.map(name => `\`${name}\`: ${MAIL_TOPICS[name].description}`).join('; ') })
export const mailLanguage = z.enum(['pt', 'en'])
export type MailLanguage = z.infer<typeof mailLanguage>

/** Topics that a member with this role may choose. */
export const topicsOf = (role: Role): MailTopic[] => TOPICS.filter(name => ROLE_PERMISSIONS[role].includes(MAIL_TOPICS[name].needs))

/** Roles that may have mail about this. */
export const rolesFor = (name: MailTopic): Role[] => ROLES.filter(role => topicsOf(role).includes(name))

/** Answer of `GET /api/v1/merchants/me/mail`: what the member who asks receives by mail. */
export const mailPreferences = z
  .object({
    object: z.literal('mail_preferences'),
    email: z.string().nullable().meta({ description: 'The verified address of your login; without one there is no mail' }),
    is_sending: z.boolean().meta({ description: 'False where the installation sends no mail at all' }),
    language: mailLanguage,
    topics: z.array(topic),
    possible_topics: z.array(topic).meta({ description: 'Those that your role may have' }),
    fixed_topics: z.array(topic).meta({ description: 'Those that it always has' }),
  })
  .meta({ id: 'MailPreferences' })
export type MailPreferencesBody = z.infer<typeof mailPreferences>

/** Body of `PATCH /api/v1/merchants/me/mail`; absent fields stay. */
export const updateMailPreferences = z.strictObject({
  language: mailLanguage.optional(),
  topics: z
    .array(topic)
    .refine(topics => new Set(topics).size === topics.length, 'must not name a topic twice')
    .optional(),
})
