import { z } from 'zod'
import { returnUrl } from '../return-url'

/** A PNG in base64 fits with it into the body of a request. */
export const LOGO_BASE64_MAX = 60_000

const color = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/, 'must be # and six hex digits')
  .meta({ description: 'Shown darker or lighter where it would not be readable', example: '#0e6b54' })
const contactEmail = z.email().max(254).meta({ description: 'Where payers ask you', example: 'ola@padaria.example' })
const termsUrl = returnUrl.meta({ description: 'https', example: 'https://padaria.example/terms' })

/** Body of `PATCH /api/v1/merchants/me/branding`; absent fields stay, `null` clears. */
export const updateBranding = z.strictObject({
  color: color.nullable().optional(),
  contact_email: contactEmail.nullable().optional(),
  terms_url: termsUrl.nullable().optional(),
  logo: z
    .base64()
    .max(LOGO_BASE64_MAX)
    .nullable()
    .optional()
    .meta({ description: 'A PNG of at most 512 by 512 pixels, in base64; it is encoded anew' }),
})
export type UpdateBranding = z.infer<typeof updateBranding>

export const branding = z
  .object({
    object: z.literal('branding'),
    color: color.nullable(),
    contact_email: contactEmail.nullable(),
    terms_url: termsUrl.nullable(),
    logo_url: z.string().nullable().meta({ description: 'A path at this host', example: '/logos/3f2a.png' }),
  })
  .meta({ id: 'Branding' })
export type BrandingBody = z.infer<typeof branding>
