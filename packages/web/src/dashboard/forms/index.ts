export { Confirmed } from './confirmed'
export { Dialog, type Opened } from './dialog'
export { NewInvoice, useNewInvoice } from './new-invoice'
