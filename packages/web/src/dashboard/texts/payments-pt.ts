import type { AttentionReason, MismatchReason, OrderException, OrderStatus } from '@ponte/contracts'

const exceptions: Record<OrderException, string> = {
  overpaid: 'Chegou mais do que a cobrança pede.',
  paid_late: 'O valor chegou depois do prazo e não quita a cobrança.',
  paid_after_cancel: 'O valor chegou depois do cancelamento e não quita a cobrança.',
  duplicate: 'A cobrança foi paga mais de uma vez.',
  reorged: 'A rede desfez um pagamento que já estava confirmado. Não entregue nada até ele voltar ou ser pago de novo.',
}

export const exceptionNames: Record<OrderException, string> = {
  overpaid: 'Recebido a mais',
  paid_late: 'Pago depois do prazo',
  paid_after_cancel: 'Pago depois de cancelada',
  duplicate: 'Paga mais de uma vez',
  reorged: 'Desfeita pela rede',
}

/** The money of an order: what came, what is kept of it, what is left over. */
export const paymentsPt = {
  payments: {
    title: 'Pagamentos',
    gross: 'Recebido',
    fee: 'Taxa da plataforma',
    share: 'Sua parte',
    missing: 'Falta',
    coming: 'A caminho, sem confirmação',
    from: 'De',
    unknownPayer: 'Desconhecido: USDC recém-emitido, como uma ponte entre redes o entrega',
    statuses: { detected: 'Aguardando confirmações', confirmed: 'Confirmado', orphaned: 'Desfeito pela rede' },
    settlements: { pending: 'A repassar', blocked: 'Repasse bloqueado' },
    blocked:
      'O valor está no endereço desta cobrança e não pode ir agora ao seu endereço de recebimento: um dos endereços está bloqueado, o USDC está pausado ou o seu endereço é um contrato que não existe nesta rede. Confira com a Circle se o seu endereço está bloqueado, e se o seu contrato existe; tentamos de novo sozinhos, e só você pode receber este valor.',
    exceptions,
    returningUnmatched: (amount: string) =>
      `Sobram ${amount}. Para devolver, envie da sua carteira a um endereço que o pagador lhe der: o que volta a uma corretora pode se perder.`,
  },
  attention: {
    title: 'Precisa de atenção',
    lead: 'Dinheiro que não se acerta sozinho: o que veio, o que a cobrança usa, o que sobra e a taxa.',
    empty: 'Nada precisa de atenção',
    emptyText: 'Quando um pagamento vier a menos, a mais, tarde, em dobro ou sem cobrança, ele aparece aqui.',
    all: 'Ver tudo o que precisa de atenção',
    show: 'Mostrar',
    open: 'A resolver',
    handled: 'Resolvidos',
    search: 'Buscar no que aparece aqui',
    kind: 'Tipo',
    back: 'Voltar à lista',
    gone: 'Este caso não está nesta lista: foi resolvido, ou está em outra página.',
    keys: 'Teclas, com o foco na lista: J e K mudam de caso, Enter abre, Esc volta, H marca como resolvido.',
    look: 'Ver',
    acts: { accept: 'Contar como paga', attach: 'Contar em uma cobrança', return: 'Devolver a sobra', handle: 'Marcar como resolvido' },
    amounts: { short: 'falta', over: 'a mais', came: 'veio' },
    note: 'Nota, para o seu registro (opcional)',
    acceptedAt: (moment: string, who: string | null) =>
      who === null ? `Contada como paga em ${moment}.` : `Contada como paga em ${moment} por ${who}.`,
    handle: 'Marcar como resolvido',
    reopen: 'Mostrar de novo',
    handledAt: (moment: string, who: string | null) => (who === null ? `Resolvido em ${moment}.` : `Resolvido em ${moment} por ${who}.`),
    accept: 'Contar como paga',
    acceptSure: (gross: string, brl: string) =>
      `Contar os ${gross} que chegaram como pagamento total de ${brl}? Isto acontece uma vez, e só a rede pode desfazer: os seus sistemas são avisados de que a cobrança está paga.`,
    givesAway: (amount: string) => `Você abre mão de ${amount}. Fica registrado no seu livro.`,
    attachSure: (amount: string) =>
      `Para qual cobrança vieram os ${amount}? Conta como se o pagamento a tivesse indicado, na hora do seu bloco; só a rede pode desfazer.`,
    findOrder: 'Busque por número, valor, endereço ou link',
    order: 'Cobrança',
    noneOpen: 'Nenhuma cobrança a pagar encontrada',
    reason: 'Por quê, para o seu registro',
    noOrder: 'Sem cobrança',
    quoted: 'Pagamentos sem cobrança',
    taken: 'A cobrança usa',
    leftOver: 'Sobra',
    unknownFee: 'Desconhecida',
    short: 'Chegou só uma parte. O link da cobrança mostra ao pagador o que falta.',
    shortAtEnd: 'Chegou só uma parte antes do prazo, e a cobrança venceu sem ser quitada.',
    reasons: {
      ...exceptionNames,
      underpaid: 'Falta uma parte',
      settlement_blocked: 'Repasse bloqueado',
      unmatched: 'Sem cobrança que o espere',
    } as Record<AttentionReason, string>,
    mismatches: {
      unknown_memo: 'Chegou ao seu endereço de recebimento, mas nenhuma cobrança tem este memo.',
      wrong_chain: 'Chegou por outra rede que não a da cobrança.',
      wrong_router: 'Chegou por outro contrato que não o da cobrança.',
      wrong_token: 'Chegou em outra moeda que não a da cobrança.',
      wrong_recipient: 'Chegou ao seu endereço de recebimento com o memo de uma cobrança que recebe em outro.',
      zero_amount: 'Chegou sem valor.',
      amount_out_of_range:
        'O valor é maior do que uma cobrança pode registrar, ou muito pequeno para uma que já tem mais de cem pagamentos.',
    } as Record<MismatchReason, string>,
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
