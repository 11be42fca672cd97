const en = {
  choose: 'On which network do you pay?',
  confirmations: (blocks: number) => `counts after ${blocks} ${blocks === 1 ? 'confirmation' : 'confirmations'}`,
  suspended: 'stands still at the moment: what you send there counts once it goes on',
  gasless: 'works without the network’s coin',
  exchange: 'From an exchange, choose the network that it sends USDC on: the address comes next.',
}
const pt: typeof en = {
  choose: 'Por qual rede você vai pagar?',
  confirmations: blocks => `vale após ${blocks} ${blocks === 1 ? 'confirmação' : 'confirmações'}`,
  suspended: 'está parada no momento: o que você enviar por ela conta quando voltar a andar',
  gasless: 'dá para pagar sem a moeda da rede',
  exchange: 'Por uma corretora, escolha a rede pela qual ela envia USDC: o endereço vem em seguida.',
}
export const networkTexts = { en, pt }
