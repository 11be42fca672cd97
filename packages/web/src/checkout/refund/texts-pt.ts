export const pt = {
  pageTitle: (merchant: string) => `Devolução · ${merchant}`,
  loading: 'Carregando a devolução…',
  refund: 'Devolução de',
  network: 'Rede',
  until: 'Link vale até',
  fee: 'Nenhuma taxa é descontada: chega exatamente este valor.',
  payee: 'Seu endereço nesta rede',
  payeeHint: (network: string) =>
    `De uma carteira sua, na rede ${network}. Se for de corretora, copie o endereço de depósito de USDC desta rede na página dela.`,
  sender: 'Não use o endereço de onde o pagamento saiu se ele saiu de uma corretora: o que volta para lá se perde.',
  hash: 'Código (hash) da transação com que você pagou, ou o link dela',
  amount: 'Valor em USDC que chegou por ela',
  amountHint: 'Com todas as casas decimais, como o explorador da rede mostra.',
  next: 'Continuar',
  check: 'Confira o endereço, letra por letra. Depois de enviado, ele não muda mais.',
  back: 'Corrigir',
  send: 'Enviar este endereço',
  sending: 'Enviando…',
  to: 'Para',
  transaction: 'Transação',
  faults: {
    payee_address: 'Este endereço não serve: confira se está completo e se é de uma carteira sua, e não do contrato nem da loja.',
    tx_hash: 'Não há, com este código e este valor, pagamento desta cobrança. Copie os dois do explorador da rede.',
    amount: 'Escreva o valor em USDC, por exemplo 27,675277.',
    limited: 'Foram muitas tentativas. Espere um minuto e tente de novo.',
    invalid_state: 'Este link não recebe mais endereço. Fale com a loja.',
    other: 'Não foi possível enviar agora. Nada mudou; tente de novo daqui a pouco.',
  },
  states: {
    open: {
      title: 'A loja quer devolver este valor',
      happened: 'Diga para onde. A loja confere o endereço e assina a transferência na carteira dela.',
    },
    claimed: { title: 'Endereço recebido', happened: 'A loja precisa assinar a transferência. Esta página mostra quando ela sair.' },
    submitted: { title: 'A caminho', happened: 'A loja assinou. A transferência chega assim que a rede a confirmar.' },
    confirmed: { title: 'Devolvido', happened: 'A transferência foi confirmada pela rede.' },
    expired: { title: 'O prazo deste link acabou', happened: 'Peça outro à loja.' },
    cancelled: { title: 'Esta devolução foi cancelada', happened: 'Nada sai por este link. Fale com a loja.' },
    missing: { title: 'Devolução não encontrada', happened: 'Confira se o link está completo, ou peça outro à loja.' },
    unreachable: {
      title: 'Não conseguimos carregar a devolução',
      happened: 'O serviço não respondeu. Tentamos de novo a cada poucos segundos.',
    },
  },
}

export type Texts = typeof pt
