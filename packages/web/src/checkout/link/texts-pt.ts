export const pt = {
  pageTitle: (merchant: string) => `Pagamento · ${merchant}`,
  loading: 'Carregando o pagamento…',
  invoice: 'Fatura de',
  reusable: 'Pagamento para',
  due: 'Vence em',
  reference: 'Referência',
  chosen: 'Valor em reais',
  bounds: (least: string, most: string) => `De ${least} a ${most}`,
  payNow: 'Pagar agora',
  opening: 'Buscando a cotação…',
  receipt: 'Ver o recibo',
  quoted: 'O valor em USDC é cotado quando você toca em “Pagar agora”, e vale por alguns minutos.',
  states: {
    open: {
      title: 'Pronto para pagar',
      happened: 'Você paga em USDC o valor em reais.',
      todo: 'Toque em “Pagar agora” quando a carteira estiver à mão.',
    },
    overdue: { title: 'Vencida', happened: 'O vencimento já passou.', todo: 'Ainda dá para pagar por aqui.' },
    started: { title: 'Pagamento começado', happened: 'Há uma cotação aberta para esta fatura.', todo: 'Continue de onde parou.' },
    paid: { title: 'Pago', happened: 'Este link já foi pago.', todo: 'Não envie nada mais.' },
    undecided: {
      title: 'A loja está conferindo',
      happened: 'Já chegou dinheiro para este link, fora do prazo ou do valor.',
      todo: 'Não pague de novo: fale com a loja.',
    },
    ended: { title: 'Link encerrado', happened: 'A loja encerrou este link.', todo: 'Peça outro à loja.' },
    wrongAmount: { title: 'Confira o valor', happened: 'O valor está fora do permitido.', todo: 'Escreva um valor dentro dos limites.' },
    refused: {
      title: 'Não foi possível abrir o pagamento',
      happened: 'A loja não pode receber neste momento.',
      todo: 'Tente de novo em alguns minutos, ou fale com a loja.',
    },
    waiting: { title: 'Muitos pedidos ao mesmo tempo', happened: 'O serviço pediu uma pausa.', todo: 'Espere um minuto e toque de novo.' },
    unanswered: {
      title: 'Sem resposta',
      happened: 'O serviço não respondeu; nada foi cobrado.',
      todo: 'Verifique a internet e toque de novo em “Pagar agora”.',
    },
    missing: {
      title: 'Link não encontrado',
      happened: 'Este endereço não leva a nenhum pagamento.',
      todo: 'Confira se ele está completo, ou peça outro à loja.',
    },
    unreachable: {
      title: 'Não conseguimos carregar',
      happened: 'O serviço não respondeu.',
      todo: 'Espere: tentamos de novo a cada poucos segundos.',
    },
  },
}

export type Texts = typeof pt
