import type { ErrorCode } from '@ponte/contracts'

/** Codes without a sentence of their own are answered with `other`, never with the service's English one. */
type Failures = { title: string; other: string } & Partial<Record<ErrorCode | 'unreachable' | 'payout_address_refused', string>>

/** What is wrong with a field, a request, an address or the connection. */
export const problemsPt = {
  faults: {
    required: 'Preencha este campo.',
    email: 'Escreva um e-mail, como ana@loja.com.br.',
    weakPassword: 'Use pelo menos 8 caracteres.',
    amount: 'Escreva um valor em reais acima de zero, com até dois dígitos de centavos: 1.500,00.',
    address: 'Isto não é um endereço: copie de novo da carteira, inteiro. São 0x e 40 letras e números, e até maiúsculas contam.',
    webUrl: 'Escreva um endereço que comece com https:// e não tenha senha.',
    color: 'Escreva # e seis dígitos hexadecimais, como #0e6b54, ou deixe vazio.',
    returnUrl: 'Escreva um endereço que comece com https:// e não tenha senha, ou deixe vazio.',
    periods: 'Escreva um número inteiro, ou deixe vazio.',
    headers: 'Um por linha, como X-Chave: valor. Content-Type, Host, webhook-… e outros são nossos.',
    limit: 'Um número de 1 a 128, ou vazio.',
    endpointUrl: 'Uma URL http:// ou https:// sem usuário e senha, em uma porta que recebe HTTP.',
  },
  failures: {
    title: 'Não deu certo',
    other: 'O serviço não aceitou o pedido. Se repetir, fale com o suporte.',
    unreachable: 'Sem resposta do serviço. Verifique a conexão; tentamos de novo sozinhos.',
    invalid_request: 'Algum campo não está certo.',
    rate_limited: 'Foram muitos pedidos em pouco tempo. Espere um minuto.',
    service_unavailable: 'Uma parte do serviço não responde agora. Tente em instantes.',
    rate_unavailable: 'Não há cotação recente do dólar. Tente em instantes.',
    payout_address_required: 'Falta o endereço de recebimento. Informe-o em Ajustes.',
    payout_address_refused: 'Este endereço não pode receber. Informe outro em Ajustes.',
    order_has_payments: 'A cobrança já recebeu dinheiro e não pode ser cancelada.',
    invalid_state: 'O estado atual não permite isto.',
    not_due: 'O período atual já foi cobrado.',
    not_found: 'Não encontramos o que você procura.',
    fresh_login_required: 'Para sua segurança: saia, entre de novo e repita em poucos minutos.',
    forbidden: 'O seu papel nesta loja não permite isto. Um dono pode trocá-lo em Equipe.',
    merchant_exists: 'Esta conta já tem uma loja. Recarregue a página.',
    idempotency_in_progress: 'O mesmo pedido ainda está em andamento. Espere um instante.',
    idempotency_mismatch: 'Os campos mudaram depois do primeiro envio. Feche o formulário e abra de novo.',
    invalid_jwt: 'A sessão acabou. Entre de novo.',
    internal_error: 'Algo falhou do nosso lado. Se repetir, fale com o suporte.',
  } as Failures,
  missing: {
    page: 'Página não encontrada',
    order: 'Cobrança não encontrada',
    subscription: 'Assinatura não encontrada',
    delivery: 'Envio não encontrado',
    text: 'O endereço desta página não leva a nada da sua loja. Confira se está completo.',
  },
  offline: 'Sem conexão. O que você vê pode estar desatualizado; a página se atualiza sozinha quando ela voltar.',
}
