import type { invoicingPt } from './invoicing-pt'

export const invoicingEn: typeof invoicingPt = {
  customer: 'Customer',
  noCustomer: 'No customer is named. It is never needed to pay.',
  ofSubscription: 'Each charge that is issued has the customer as it is at that moment.',
  name: 'Name',
  email: 'Email',
  taxId: 'CPF or CNPJ',
  taxIdHint: 'With or without points.',
  resident: 'Resident in Brazil',
  residence: { unknown: 'Not known', yes: 'Yes', no: 'No' },
  nameCustomer: 'Name the customer',
  changeCustomer: 'Change the customer',
  eraseCustomer: 'Erase the customer',
  eraseSure: 'Erase what is known of this customer? Amounts, entries and the fiscal document stay as they are.',
  privacy: 'Privacy',
  privacyText:
    'A customer who asks to be forgotten is erased from all orders, payment links and subscriptions at once, by CPF or CNPJ or by mail address. The name goes with them. This cannot be undone.',
  erasedStays: 'Amounts, entries and fiscal documents stay as they are; what you wrote into a description stays too.',
  eraseEverywhere: 'Erase everywhere',
  eraseEverywhereSure:
    'Erase this customer from every order, payment link and subscription that has this CPF or CNPJ, or this mail address? Amounts, entries and fiscal documents stay as they are.',
  taxIdOrEmail: 'CPF, CNPJ or email',
  eraseWhich: 'Every order, payment link and subscription whose customer has it forgets its customer.',
  erased: ({ orders, links, subscriptions }) => {
    if (orders + links + subscriptions === 0) return 'No order, payment link or subscription had this customer.'
    const ofLinks = links === 0 ? ' and' : links === 1 ? ', 1 payment link and' : `, ${links} payment links and`
    return `Erased from ${orders === 1 ? '1 order' : `${orders} orders`}${ofLinks} ${subscriptions === 1 ? '1 subscription' : `${subscriptions} subscriptions`}.`
  },
  document: 'Fiscal document',
  having: { false: 'Without document', true: 'With document' },
  noDocument: 'No document is named.',
  kind: 'Kind',
  kinds: { nfe: 'NF-e or NFC-e', nfse: 'National NFS-e' },
  key: 'Access key',
  keyHint: '44 characters of an NF-e or NFC-e, 50 of an NFS-e. Spaces do not matter.',
  nameDocument: 'Name the document',
  changeDocument: 'Change the document',
  removeDocument: 'Remove the document',
  removeSure: 'Remove this document from the order? The document itself does not change.',
  setAt: 'Named at',
  setBy: 'By',
  byKey: 'API key',
}
