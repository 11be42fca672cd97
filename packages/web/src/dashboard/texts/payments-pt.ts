import type { AttentionReason, MismatchReason, OrderException, OrderStatus, RecoveryFailure, RecoveryStatus } from '@ponte/contracts'

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
    acts: {
      accept: 'Contar como paga',
      attach: 'Contar em uma cobrança',
      recover: 'Recuperar',
      return: 'Devolver a sobra',
      handle: 'Marcar como resolvido',
    },
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
    foreign:
      'Uma moeda que não é USDC está no endereço desta cobrança. Ela não quita a cobrança e não está em nenhuma soma, mas pode ser enviada ao seu endereço de recebimento. Ela é mostrada pelo endereço, porque o nome de uma moeda é o que qualquer um escreve nela.',
    token: 'Moeda',
    coin: 'Moeda da própria rede',
    tokenAmount: 'Quantidade',
    units: (amount: string) => `${amount} nas menores unidades dela, como ela mesma diz`,
    goesTo: 'Vai para',
    recoverThere: 'Recuperar para este endereço',
    recoverSure:
      'Tudo o que houver desta moeda no endereço da cobrança vai para o endereço de recebimento que a cobrança tinha ao ser criada, e para nenhum outro: confira que ele ainda é seu. Nós pagamos o custo da rede.',
    recoverWorthless:
      'Qualquer um pode enviar moedas sem valor a um endereço. Deixe onde está a que você não conhece, e não visite sites nem aprove nada que ela indique.',
    recoveries: {
      pending: 'Está sendo enviada ao seu endereço de recebimento: aguarda a rede, ou um custo menor dela.',
      confirmed: 'Foi enviada ao seu endereço de recebimento.',
      failed: 'Não foi possível enviá-la ao seu endereço de recebimento.',
    } as Record<RecoveryStatus, string>,
    recoveryFailures: {
      nothing_left: 'Não há mais nada dela no endereço da cobrança.',
      refused: 'A moeda ou o seu endereço não aceita, ou ela custa demais para ser movida.',
      payout_contract_missing: 'O contrato no seu endereço de recebimento não existe nesta rede.',
      too_dear: 'Por um dia a rede esteve cara demais; tente de novo mais tarde.',
      over_budget: 'O que pagamos por dia por você já foi usado; tente de novo mais tarde.',
      not_sent: 'Por um dia não foi possível enviá-la; tente de novo mais tarde.',
    } as Record<RecoveryFailure, string>,
    findOrder: 'Busque por número, valor, endereço ou link',
    order: 'Cobrança',
    noneOpen: 'Nenhuma cobrança a pagar encontrada',
    chooseOrder: 'Escolha uma cobrança',
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
      foreign_token: 'Outra moeda',
    } as Record<AttentionReason, string>,
    mismatches: {
      unknown_memo: 'Chegou ao seu endereço de recebimento, mas nenhuma cobrança tem este memo.',
      wrong_chain: 'Chegou por uma rede que a cobrança não oferecia. Conte-o para a cobrança ou devolva-o.',
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
