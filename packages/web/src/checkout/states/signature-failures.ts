/** Why a signature was not paid, by the reason that the service gives. */
const pt = {
  expired: 'A assinatura terminou antes de a rede a aceitar.',
  nonce_used: 'A assinatura foi usada ou cancelada em outro lugar.',
  refused_by_token: 'A conta já não tinha o valor, ou o USDC recusou a assinatura.',
  reverted: 'A rede recusou o pagamento no último momento.',
  not_mined: 'A rede não aceitou o pagamento a tempo.',
  not_sent: 'O pagamento não pôde ser enviado a tempo.',
  too_dear: 'As taxas da rede subiram acima do que pagamos por um valor assim.',
  over_budget: 'Por ora não pagamos mais taxas aqui.',
  order_closed: 'A cobrança já não espera pagamento.',
  account_changed: 'A conta passou a ser um contrato depois da assinatura.',
  paid_otherwise: 'A cobrança foi paga de outro jeito antes.',
}
const en: typeof pt = {
  expired: 'The signature ended before the network took it.',
  nonce_used: 'The signature was used or cancelled elsewhere.',
  refused_by_token: 'The account no longer had the amount, or USDC refused it.',
  reverted: 'The network refused it in the last moment.',
  not_mined: 'The network did not take it in time.',
  not_sent: 'It could not be sent in time.',
  too_dear: 'The network’s fees rose above what we pay for an amount like this.',
  over_budget: 'We pay no more fees here for now.',
  order_closed: 'The invoice waits for no payment any more.',
  account_changed: 'The account became a contract after it signed.',
  paid_otherwise: 'The invoice was paid in another way first.',
}
export const signatureFailures = { pt, en }
