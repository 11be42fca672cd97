/** Rounded as one says it aloud. */
const lasting = (language: 'en' | 'pt-BR', seconds: number) =>
  new Intl.NumberFormat(language, {
    ...{ style: 'unit', unitDisplay: 'long', maximumFractionDigits: 0 },
    unit: seconds < 90 ? 'second' : 'minute',
  }).format(seconds < 90 ? seconds : seconds / 60)

const en = {
  choose: 'On which network do you pay?',
  counts: (seconds: number) => `counts after about ${lasting('en', seconds)}`,
  suspended: 'stands still at the moment: what you send there counts once it goes on',
  gasless: 'works without the network’s coin',
  exchange: 'From an exchange, choose the network that it sends USDC on: the address comes next.',
}
const pt: typeof en = {
  choose: 'Por qual rede você vai pagar?',
  counts: seconds => `vale após cerca de ${lasting('pt-BR', seconds)}`,
  suspended: 'está parada no momento: o que você enviar por ela conta quando voltar a andar',
  gasless: 'dá para pagar sem a moeda da rede',
  exchange: 'Por uma corretora, escolha a rede pela qual ela envia USDC: o endereço vem em seguida.',
}
export const networkTexts = { en, pt }
