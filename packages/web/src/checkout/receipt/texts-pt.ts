import type { NoticeText } from '../elements/notice'

export interface Texts {
  receipt: string
  loading: string
  title: string
  from: string
  orderNumber: string
  invoice: string
  about: string
  amount: string
  rate: string
  asked: string
  sent: string
  fee: string
  reached: string
  surplus: string
  paidAt: string
  network: string
  token: string
  shop: string
  memo: string
  payments: string
  block: string
  sender: string
  unknownSender: string
  transaction: string
  movedBy: string
  kinds: Record<'router' | 'transfer', string>
  stays: string
  notYet: string
  noTaxDocument: string
  print: string
  copyLink: string
  copied: string
  toInvoice: string
  states: Record<'missing' | 'unreachable' | 'unpaid', NoticeText>
}

export const pt: Texts = {
  receipt: 'Recibo',
  loading: 'Carregando o recibo…',
  title: 'Recibo de pagamento',
  from: 'Recebido por',
  orderNumber: 'Pedido da loja',
  invoice: 'Cobrança',
  about: 'Descrição',
  amount: 'Valor em reais',
  rate: 'Cotação',
  asked: 'Valor em USDC',
  sent: 'Enviado por você',
  fee: 'Taxa da plataforma, paga pela loja',
  reached: 'Recebido pela loja',
  surplus: 'Enviado a mais',
  paidAt: 'Pago em',
  network: 'Rede',
  token: 'Contrato do USDC',
  shop: 'Endereço da loja',
  memo: 'Memo',
  payments: 'Transações',
  block: 'bloco',
  sender: 'De',
  unknownSender: 'remetente desconhecido: veio por uma ponte ou do emissor',
  transaction: 'Transação',
  movedBy: 'Levado à loja por',
  kinds: { router: 'pagamento pelo contrato', transfer: 'transferência' },
  stays: 'Este recibo fica neste endereço:',
  notYet: 'Ainda não é um recibo: a rede está confirmando o que foi enviado. O recibo aparece neste endereço:',
  noTaxDocument: 'Este recibo comprova o que chegou pela rede. Não é documento fiscal: a nota é da loja.',
  print: 'Imprimir ou salvar em PDF',
  copyLink: 'Copiar o link',
  copied: 'Copiado',
  toInvoice: 'Ver a cobrança',
  states: {
    missing: { title: 'Recibo não encontrado', happened: 'Não há cobrança neste endereço.', todo: 'Confira o link ou peça outro à loja.' },
    unreachable: {
      title: 'Sem resposta',
      happened: 'O recibo não pôde ser carregado agora.',
      todo: 'Tente de novo em um momento; nada mudou.',
    },
    unpaid: {
      title: 'Ainda não há recibo',
      happened: 'Nenhum pagamento desta cobrança chegou.',
      todo: 'O recibo aparece aqui quando chegar.',
    },
  },
}
