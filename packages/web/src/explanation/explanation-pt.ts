import type { ExplanationCode } from '@ponte/contracts'

/** Amounts and addresses as they are shown; null where the answer has none. */
export interface Explained {
  amount: string | null
  shortBy: string | null
  seen: number
  required: number
  token: string | null
  recipient: string | null
  network: string | null
}

export const explanationPt = {
  merchantTitle: 'O cliente pagou, e o pagamento não aparece aqui?',
  hash: 'Código (hash) da transação, ou o link dela',
  ask: 'Verificar',
  asking: 'Verificando…',
  malformed: 'Cole o código que a carteira ou a corretora mostra: 0x e 64 letras ou números, ou o link da transação no explorador.',
  limited: 'Foram muitas consultas. Espere um minuto e tente de novo.',
  unavailable: 'Não foi possível consultar a rede agora. Tente de novo daqui a pouco.',
  seeOther: 'Ver a outra cobrança',
  sentences: {
    settled: () => 'Esta transação está registrada, e a cobrança está paga.',
    short: ({ shortBy }) => `Esta transação está registrada, mas ainda falta confirmar ${shortBy}.`,
    late: () => 'O dinheiro chegou depois do prazo ou do cancelamento; a loja pode aceitá-lo ou devolvê-lo.',
    unconfirmed: ({ seen, required }) =>
      seen < required
        ? `A rede tem a transação, com ${seen} de ${required} confirmações; espere pelas que faltam.`
        : 'A transação tem todas as confirmações e aparece aqui em um minuto.',
    reverted: () => 'A transação falhou na rede, e nenhum USDC saiu da carteira.',
    not_found: () => 'A rede desta cobrança não conhece essa transação. Confira o código e a rede usada.',
    other_order: () => 'Essa transação pagou outra cobrança.',
    wrong_token: ({ token }) =>
      `Foi enviada outra moeda${token === null ? '' : ` (${token})`} ao endereço desta cobrança, que só aceita USDC; a loja pode recuperar o valor e combinar com você o que fazer.`,
    unknown_memo: ({ amount }) => `A transação pagou ${amount} à loja sem indicar nenhuma cobrança; a loja pode contá-la nesta.`,
    wrong_recipient: ({ amount, recipient }) =>
      recipient === null
        ? 'A transação não enviou nenhum USDC para onde se paga esta cobrança.'
        : `A transação enviou ${amount} a ${recipient}, que não é onde se paga esta cobrança.`,
    wrong_network: ({ network, amount }) => {
      if (network === null) return 'A transação é de outra rede, e não a desta cobrança.'
      return amount === null
        ? `A transação é da rede ${network}, onde esta cobrança não se paga.`
        : `A transação enviou ${amount} para esta cobrança pela rede ${network}, que ela não oferece: a loja pode contá-lo ou devolvê-lo.`
    },
  } satisfies Record<ExplanationCode, (of: Explained) => string> as Record<ExplanationCode, (of: Explained) => string>,
}
