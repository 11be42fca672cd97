export const elsewherePt = {
  hint: 'Foi enviada em outra rede? Troque a carteira deste navegador para essa rede: ela procura o dinheiro no endereço desta cobrança.',
  noWallet: 'Este navegador não tem carteira.',
  look: (wallet: string) => (wallet === '' ? 'Procurar com a carteira' : `Procurar com a ${wallet}`),
  looking: 'Procurando…',
  found: (amount: string, network: string) => `${amount} estão no endereço desta cobrança na rede ${network}.`,
  goesTo: 'Só podem ir para o seu endereço de recebimento, menos a taxa. O gás é pago pela sua carteira.',
  sure: (network: string) =>
    `Confira antes que este endereço é seu também na rede ${network}: em uma corretora, ou se for uma carteira de contrato que não existe lá, o dinheiro pode se perder.`,
  send: 'Enviar ao meu endereço',
  sent: 'Enviado. Esse dinheiro não entra nas contas daqui nem paga a cobrança: quando chegar, aceite a cobrança ou devolva o valor da sua carteira.',
  reasons: {
    offered: (network: string) =>
      `A carteira está na rede ${network}, que esta cobrança já oferece. Troque-a para a rede que o cliente usou.`,
    unknown: (network: string) => `A rede ${network} também não conhece essa transação.`,
    no_router: (network: string) => `Na rede ${network} não existe o contrato que move esse dinheiro. Fale com o operador deste serviço.`,
    empty: (network: string) => `Não há USDC no endereço desta cobrança na rede ${network}.`,
    moved: (network: string) => `A carteira saiu da rede ${network}. Volte para ela e tente de novo.`,
    refused: () => 'A carteira recusou.',
    busy: () => 'A carteira já mostra um pedido. Responda lá primeiro.',
    no_account: () => 'A carteira não ofereceu nenhuma conta.',
    insufficient_gas: (network: string) => `A carteira não tem gás na rede ${network}.`,
    other: () => 'A carteira não conseguiu. Tente de novo.',
  },
}
