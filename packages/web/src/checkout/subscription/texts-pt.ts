import type { PayerSubscriptionBody } from '@ponte/contracts'

type Interval = NonNullable<PayerSubscriptionBody['interval']>

const every: Record<Interval, [one: string, few: string]> = {
  day: ['por dia', 'dias'],
  week: ['por semana', 'semanas'],
  month: ['por mês', 'meses'],
  year: ['por ano', 'anos'],
}

export const pt = {
  pageTitle: (merchant: string) => `Assinatura · ${merchant}`,
  loading: 'Carregando a assinatura…',
  subscription: 'Assinatura de',
  rhythm: (interval: Interval, count: number) => (count === 1 ? every[interval][0] : `a cada ${count} ${every[interval][1]}`),
  atWill: 'cada cobrança a pedido da loja',
  next: 'Próxima cobrança',
  noNext: 'nenhuma marcada',
  ends: 'Termina em',
  ended: 'Terminou em',
  payNow: 'Pagar agora',
  opening: 'Preparando a cobrança…',
  history: 'Histórico',
  noHistory: 'Nada foi cobrado ainda.',
  receipt: 'Recibo',
  open: 'Ver a cobrança',
  statuses: { open: 'Em aberto', paid: 'Paga', unpaid: 'Não paga' },
  issued: (moment: string) => `cobrada em ${moment}`,
  paid: (moment: string) => `paga em ${moment}`,
  keep: 'Guarde este link: ele vale enquanto a assinatura existir.',
  states: {
    due: {
      title: 'Há um pagamento a fazer',
      happened: 'A cobrança deste período está aberta.',
      todo: 'Pague antes que o prazo dela acabe.',
    },
    again: {
      title: 'Falta o pagamento deste período',
      happened: 'A última cobrança venceu sem ser paga.',
      todo: 'Pague agora: abrimos outra, com a cotação do momento.',
    },
    preparing: {
      title: 'A cobrança está sendo preparada',
      happened: 'O período começou, e a cobrança dele ainda não está aberta.',
      todo: 'Espere: esta página se atualiza sozinha.',
    },
    nothing: { title: 'Nada a pagar agora', happened: 'Não há cobrança em aberto.', todo: 'Volte quando chegar a próxima cobrança.' },
    paused: { title: 'Assinatura em pausa', happened: 'Nada é cobrado enquanto a pausa durar.', todo: 'Para retomar, fale com a loja.' },
    over: { title: 'Assinatura encerrada', happened: 'Nada mais será cobrado.', todo: 'Os recibos continuam aqui.' },
    refused: {
      title: 'A cobrança não pôde ser aberta',
      happened: 'O período acaba logo, ou já não há o que cobrar.',
      todo: 'Espere a próxima cobrança, ou fale com a loja.',
    },
    unanswered: {
      title: 'Sem resposta',
      happened: 'O serviço não respondeu; nada foi cobrado.',
      todo: 'Verifique a internet e toque de novo em “Pagar agora”.',
    },
    missing: {
      title: 'Assinatura não encontrada',
      happened: 'Este link não leva a nenhuma assinatura.',
      todo: 'Confira se ele está completo, ou peça outro à loja.',
    },
    unreachable: {
      title: 'Não conseguimos carregar a assinatura',
      happened: 'O serviço não respondeu.',
      todo: 'Espere: tentamos de novo a cada poucos segundos.',
    },
  },
}

export type Texts = typeof pt
