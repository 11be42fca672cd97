/** For each state: the facts, and advice. */
export interface StateText {
  title: string
  happened: string
  todo: string
}

export const statesPt = {
  sent: {
    title: 'Pagamento enviado',
    happened: 'A sua carteira enviou a transação, e a rede ainda não a mostra.',
    todo: 'Não pague de novo. Pode recarregar ou fechar esta página: nada se perde.',
  },
  sentSlow: {
    title: 'Pagamento enviado',
    happened: 'A transação está demorando mais que o normal.',
    todo: 'Veja-a na sua carteira: só se ela falhou ou foi cancelada, pague de novo.',
  },
  signed: {
    title: 'Assinatura recebida',
    happened: 'Estamos enviando o pagamento à rede por você.',
    todo: 'Não assine nem pague de novo: seria pago duas vezes.',
  },
  relayerPaused: {
    title: 'Envio em espera',
    happened: 'Temos a sua assinatura, mas não conseguimos enviar o pagamento agora; nada saiu da sua conta.',
    todo: 'Espere aqui: seguimos tentando por alguns minutos, e dizemos aqui se falhar. Não pague de outro jeito enquanto isso.',
  },
  failed: {
    title: 'A transação falhou',
    happened: 'A rede recusou a transação enviada daqui. O valor não saiu da sua conta.',
    todo: 'Pode tentar de novo abaixo.',
  },
  signatureFailed: {
    title: 'O pagamento assinado não foi feito',
    happened: 'O que foi assinado para esta cobrança não pôde ser pago. Nada foi retirado.',
    todo: 'O valor volta a ser devido; pague abaixo.',
  },
  confirming: {
    title: 'Pagamento visto na rede',
    happened: 'O valor chegou, e a rede ainda o confirma.',
    todo: 'Não precisa fazer mais nada; pode fechar esta página.',
  },
  networkFrozen: {
    title: 'A rede está parada',
    happened: 'O valor chegou, mas há minutos a rede não traz confirmações novas.',
    todo: 'Não pague de novo. O seu pagamento está registrado e confirma quando a rede voltar.',
  },
  paid: { title: 'Pago', happened: 'A loja recebeu o seu pagamento.', todo: 'Guarde o recibo. Não há mais nada a fazer.' },
  overpaid: {
    title: 'Pago',
    happened: 'Chegou mais do que o devido.',
    todo: 'Mostre este recibo à loja: só ela pode devolver a diferença, da carteira dela.',
  },
  duplicate: {
    title: 'Pago',
    happened: 'Esta cobrança foi paga mais de uma vez.',
    todo: 'Mostre este recibo à loja: só ela pode devolver o que veio a mais, da carteira dela.',
  },
  underpaid: {
    title: 'Falta uma parte',
    happened: 'Chegou menos do que o devido; o que chegou está registrado.',
    todo: 'Envie o resto abaixo antes de o prazo acabar:',
  },
  expired: {
    title: 'O prazo acabou',
    happened: 'Nada chegou dentro do prazo.',
    todo: 'Não pague mais por este link. Peça à loja uma nova cobrança.',
  },
  expiredPart: {
    title: 'O prazo acabou',
    happened: 'Só uma parte chegou dentro do prazo.',
    todo: 'Não envie mais nada. Mostre esta página à loja: ela pode cobrar só o resto, ou devolver da carteira dela.',
  },
  paidLate: {
    title: 'O prazo acabou',
    happened: 'O seu pagamento chegou depois do prazo e não quitou esta cobrança; o valor está com a loja.',
    todo: 'Mostre esta página à loja para resolver. Não pague de novo antes disso.',
  },
  timeUp: {
    title: 'O prazo está acabando na rede',
    happened: 'O relógio chegou ao fim, e a rede ainda fecha os últimos blocos do prazo.',
    todo: 'Não envie mais nada. Se já enviou, espere: vale a hora em que a rede registrou a transação.',
  },
  cancelled: {
    title: 'Cobrança cancelada',
    happened: 'A loja cancelou esta cobrança.',
    todo: 'Não há nada a pagar. Se isto surpreende, fale com a loja.',
  },
  paidAfterCancel: {
    title: 'Cobrança cancelada',
    happened: 'O seu pagamento chegou depois do cancelamento; o valor está com a loja.',
    todo: 'Mostre esta página à loja: só ela pode devolver, da carteira dela.',
  },
  reorged: {
    title: 'Pagamento desfeito',
    happened: 'A rede desfez um pagamento que já estava confirmado.',
    todo: 'Espere alguns minutos: em geral ele volta sozinho. Fale com a loja antes de pagar de novo.',
  },
  reconnecting: {
    title: 'Sem conexão',
    happened: 'O que você vê pode estar desatualizado.',
    todo: 'Esta página se atualiza sozinha quando a conexão voltar.',
  },
  notFound: {
    title: 'Cobrança não encontrada',
    happened: 'Este link não leva a nenhuma cobrança.',
    todo: 'Confira se ele está completo, ou peça outro à loja.',
  },
  unreachable: {
    title: 'Não conseguimos carregar a cobrança',
    happened: 'O serviço está ocupado ou não respondeu.',
    todo: 'Espere: tentamos de novo a cada poucos segundos.',
  },
} satisfies Record<string, StateText>

export type StateName = keyof typeof statesPt
