/** Rounded: no chain keeps its pace to the second. */
function lasting(language: 'en' | 'pt-BR', seconds: number): string {
  const [unit, value] =
    seconds < 60 ? (['second', Math.max(1, Math.round(seconds / 5)) * 5] as const) : (['minute', Math.round(seconds / 60)] as const)
  return new Intl.NumberFormat(language, { style: 'unit', unitDisplay: 'long', unit }).format(value)
}

const dollars = { en: (usd: string) => `$${usd}`, pt: (usd: string) => `US$\u00a0${usd.replace('.', ',')}` }

const en = {
  choose: 'On which network do you pay?',
  holds: (amount: string) => `your wallet has ${amount} there`,
  short: (amount: string) => `your wallet has only ${amount} there: not enough`,
  /** `usd` is null where the network's coin is worth nothing. */
  costs: (seconds: number, usd: string | null) =>
    `counts after about ${lasting('en', seconds)}${usd === null ? '' : `, fee\u00a0usually\u00a0below\u00a0${dollars.en(usd)}`}`,
  suspended: 'stands still at the moment: what you send there counts once it goes on',
  gasless: 'no coin for the fee? You only sign',
  look: 'See where my wallet has USDC',
  unseen: 'The wallet does not show what it has on these networks.',
  exchange: 'From an exchange, choose the network that it sends USDC on: the address comes next.',
}
const pt: typeof en = {
  choose: 'Por qual rede você vai pagar?',
  holds: amount => `a sua carteira tem ${amount} nela`,
  short: amount => `a sua carteira só tem ${amount} nela: não basta`,
  costs: (seconds, usd) =>
    `vale após cerca de ${lasting('pt-BR', seconds)}${usd === null ? '' : `, taxa\u00a0em\u00a0geral\u00a0abaixo\u00a0de\u00a0${dollars.pt(usd)}`}`,
  suspended: 'está parada no momento: o que você enviar por ela conta quando voltar a andar',
  gasless: 'sem moeda para a taxa? Basta assinar',
  look: 'Ver em quais redes a minha carteira tem USDC',
  unseen: 'A carteira não mostra o que tem nestas redes.',
  exchange: 'Por uma corretora, escolha a rede pela qual ela envia USDC: o endereço vem em seguida.',
}
export const networkTexts = { en, pt }
