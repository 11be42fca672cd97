/** By chain id, where exchanges write a network in another way than its own. */
export const namesAtExchanges: Readonly<Record<number, string>> = {
  1: 'ERC20',
  10: 'Optimism',
  137: 'Polygon PoS',
  43114: 'AVAX C-Chain',
}

const en = {
  network: (network: string) => `Choose to withdraw USDC by the network ${network}. By another network it may be lost.`,
  chosen: (network: string, right: string) =>
    `Choose to withdraw USDC by the network ${network}. Where the exchange does not offer it, choose another one above. This address is right on ${right}, and on no other network.`,
  written: (name: string) => `Exchanges also write it ${name}.`,
  arrives: (amount: string) => `At least ${amount} must arrive: where the exchange shows what the recipient gets, read that it is so much.`,
  fee: 'Fee of the exchange, in USDC, where it is taken off the amount',
  feeFault: 'An amount such as 1.00',
  type: 'Amount to type in',
  copy: 'Copy the amount to type in',
  notation: 'Decimals in the exchange’s field',
  point: 'With a point',
  comma: 'With a comma',
  tooSmall: 'If the field takes two decimals, this invoice is too small for it: pay with a wallet.',
  least: (amount: string) =>
    `Exchanges have a least withdrawal. If yours is above ${amount}, pay with a wallet: what is too much only the merchant can return.`,
  time: (moment: string) =>
    `An exchange may take an hour to send. Money that arrives after ${moment} is found as well, and the merchant decides about it.`,
}
const pt: typeof en = {
  network: network => `Escolha sacar USDC pela rede ${network}. Por outra rede, o valor pode se perder.`,
  chosen: (network, right) =>
    `Escolha sacar USDC pela rede ${network}. Se a corretora não a oferece, escolha outra acima. Este endereço vale na rede ${right}, e em nenhuma outra.`,
  written: name => `Corretoras também a escrevem ${name}.`,
  arrives: amount => `Tem de chegar pelo menos ${amount}: se a corretora mostra quanto o destinatário recebe, confira se é esse valor.`,
  fee: 'Taxa da corretora, em USDC, se ela for descontada do valor',
  feeFault: 'Um valor como 1,00',
  type: 'Valor a digitar',
  copy: 'Copiar o valor a digitar',
  notation: 'Decimais no campo da corretora',
  point: 'Com ponto',
  comma: 'Com vírgula',
  tooSmall: 'Se o campo só aceita duas casas decimais, esta cobrança é pequena demais para ele: pague com uma carteira.',
  least: amount =>
    `Corretoras têm um saque mínimo. Se o da sua passa de ${amount}, pague com uma carteira: o que chegar a mais, só a loja pode devolver.`,
  time: moment =>
    `Uma corretora pode levar uma hora para enviar. O que chegar depois de ${moment} também é encontrado, e a loja decide o que fazer.`,
}
export const exchangeTexts = { en, pt }
