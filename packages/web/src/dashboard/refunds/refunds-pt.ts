import type { RefundStatusName } from '@ponte/contracts'

/** Money of an order that goes back. */
export const refundsPt = {
  title: 'Devoluções',
  fresh: 'Devolver dinheiro',
  surplus: (amount: string) => `Sobram ${amount}, que a cobrança não usa.`,
  most: (amount: string) => `Ainda podem voltar ${amount}.`,
  fee: (amount: string) => `A taxa da plataforma de ${amount} não volta: quem devolve tudo paga essa parte.`,
  amount: 'Valor em USDC',
  payee: 'Endereço de quem recebe',
  payeeHint:
    'Peça ao pagador um endereço dele. O remetente de uma transferência pode ser uma corretora, e o que volta para lá se perde. Vazio: quem pagou assinando na carteira.',
  askByLink: 'Pedir o endereço ao pagador',
  askHint:
    'Cria um link. Quem pagou informa nele a transação e um endereço próprio; depois você confere o endereço e assina. Mande o link só ao pagador.',
  email: 'E-mail do pagador (opcional)',
  emailHint:
    'Com ele, o link só recebe um endereço de quem tem também o código que enviamos para esse e-mail. Use o que você já conhece do cliente.',
  codeGoesTo: (email: string) => `Para informar o endereço, o pagador precisa do código que vai para ${email}.`,
  link: 'Link do pagador',
  linkOpen: 'Ver a página',
  asked: (amount: string, day: string) => `Devolução de ${amount}: o link espera o endereço do pagador até ${day}.`,
  endLink: 'Encerrar o link',
  endLinkSure: 'Encerrar este link? Ele deixa de receber um endereço. Nada saiu da sua carteira.',
  named: 'O endereço foi informado pelo link, por quem conhecia a transação. Confira com o cliente antes de assinar.',
  reason: 'Por quê, para o seu registro',
  create: 'Continuar',
  sign: (wallet: string) => (wallet === '' ? 'Assinar na carteira' : `Assinar com ${wallet}`),
  signHint: (address: string) =>
    `O dinheiro sai da sua carteira ${address}. Ela assina uma vez, sem taxa de rede; nós enviamos. A partir da assinatura a devolução não muda mais.`,
  noWallet: 'Abra esta página no navegador em que está essa carteira, para assinar.',
  waiting: 'Responda na sua carteira…',
  to: 'Para',
  approve: 'Aprovar',
  approveSure: (amount: string) =>
    `Aprovar a devolução de ${amount} para este endereço? Confira antes os dois com o cliente. Nada sai da carteira até a assinatura.`,
  approvedBy: (who: string, when: string) => `Aprovada por ${who}, ${when}`,
  needsAnother: 'Acima do limite desta loja: outro membro tem de aprovar ou assinar.',
  needsYou: 'Acima do limite desta loja: aprove, ou assine você.',
  needsTwo: 'Acima do limite desta loja, e pedida por uma chave de API: um membro aprova, e outro assina.',
  statuses: {
    awaiting_destination: 'Falta o endereço',
    awaiting_signature: 'Falta a sua assinatura',
    awaiting_funds: 'Falta saldo na sua carteira',
    submitted: 'Assinada, a caminho',
    confirmed: 'Devolvido',
    cancelled: 'Cancelada',
  } as Record<RefundStatusName, string>,
  cancel: 'Cancelar devolução',
  cancelSure: 'Cancelar esta devolução? Nada foi assinado, então nada saiu da sua carteira.',
  refusals: {
    refused: 'Você recusou na carteira. Nada foi assinado.',
    busy: 'A carteira já tem um pedido aberto. Abra a carteira, responda ao pedido e tente de novo.',
    wrong_network: 'A carteira continua em outra rede. Troque a rede na carteira e tente de novo.',
    no_account: 'A carteira não liberou nenhuma conta. Desbloqueie a carteira e tente de novo.',
    other_account: 'A carteira está em outra conta. Escolha nela a conta do seu endereço de recebimento e tente de novo.',
    not_now: 'Agora não há o que assinar: a rede não responde, ou esta devolução já mudou.',
    other: 'A carteira não assinou. Tente de novo, ou use outra carteira com a mesma conta.',
  },
}
