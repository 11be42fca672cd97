import type { OrderException, OrderStatus } from '@ponte/contracts'

const exceptions: Record<OrderException, string> = {
  overpaid: 'Chegou mais do que a cobrança pede.',
  paid_late: 'O valor chegou depois do prazo e não quita a cobrança.',
  paid_after_cancel: 'O valor chegou depois do cancelamento e não quita a cobrança.',
  duplicate: 'A cobrança foi paga mais de uma vez.',
  reorged: 'A rede desfez um pagamento que já estava confirmado. Não entregue nada até ele voltar ou ser pago de novo.',
}

/** The money of an order: what came, what is kept of it, what is left over. */
export const paymentsPt = {
  payments: {
    title: 'Pagamentos',
    gross: 'Recebido',
    fee: 'Taxa da plataforma',
    share: 'Sua parte',
    coming: 'A caminho, sem confirmação',
    from: 'De',
    unknownPayer: 'Desconhecido: USDC recém-emitido, como uma ponte entre redes o entrega',
    statuses: { detected: 'Aguardando confirmações', confirmed: 'Confirmado', orphaned: 'Desfeito pela rede' },
    settlements: { pending: 'A repassar', blocked: 'Repasse bloqueado' },
    blocked:
      'O valor está no endereço desta cobrança e não pode ir agora ao seu endereço de recebimento: um dos endereços está bloqueado, o USDC está pausado ou o seu endereço é um contrato que não existe nesta rede. Confira com a Circle se o seu endereço está bloqueado, e se o seu contrato existe; tentamos de novo sozinhos, e só você pode receber este valor.',
    exceptions,
    returning: (amount: string) =>
      `Sobram ${amount}. Para devolver, envie da sua carteira ao remetente abaixo. Se ele for uma corretora, ou desconhecido, peça antes um endereço ao pagador: o que volta a uma corretora pode se perder.`,
  },
}

export const orderStatusPt: Record<OrderStatus, string> = {
  pending: 'Aguardando',
  confirming: 'Confirmando',
  underpaid: 'Falta uma parte',
  paid: 'Paga',
  expired: 'Vencida',
  cancelled: 'Cancelada',
}
