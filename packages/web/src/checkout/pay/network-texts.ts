/** Rounded: no chain keeps its pace to the second. */
function lasting(language: 'en' | 'pt-BR', seconds: number): string {
  const [unit, value] =
    seconds < 60 ? (['second', Math.max(1, Math.round(seconds / 5)) * 5] as const) : (['minute', Math.round(seconds / 60)] as const)
  return new Intl.NumberFormat(language, { style: 'unit', unitDisplay: 'long', unit }).format(value)
}

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
