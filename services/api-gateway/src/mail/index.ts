export { accountNotice } from './account-notice'
export type { Mail, Notice } from './mail'
export { createMailer, type MailerDeps } from './mailer'
export { openSmtp } from './smtp'
