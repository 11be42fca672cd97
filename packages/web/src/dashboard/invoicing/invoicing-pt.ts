export const invoicingPt = {
  customer: 'Cliente',
  noCustomer: 'Nenhum cliente informado. Para pagar, isso nunca é preciso.',
  ofSubscription: 'Cada cobrança emitida leva o cliente como está naquele momento.',
  name: 'Nome',
  email: 'E-mail',
  taxId: 'CPF ou CNPJ',
  taxIdHint: 'Com ou sem pontos.',
  resident: 'Residente no Brasil',
  residence: { unknown: 'Não informado', yes: 'Sim', no: 'Não' },
  nameCustomer: 'Informar cliente',
  changeCustomer: 'Mudar cliente',
  eraseCustomer: 'Apagar cliente',
  eraseSure: 'Apagar os dados deste cliente? Valores, lançamentos e documento fiscal ficam como estão.',
  privacy: 'Privacidade',
  privacyText:
    'O cliente que pede para ser esquecido é apagado de todas as cobranças, links de pagamento e assinaturas de uma vez, pelo CPF ou CNPJ ou pelo e-mail. O nome vai junto. Não há como desfazer.',
  erasedStays: 'Valores, lançamentos e documentos fiscais ficam como estão; o que você escreveu numa descrição também fica.',
  eraseEverywhere: 'Apagar em tudo',
  eraseEverywhereSure:
    'Apagar este cliente de toda cobrança, link de pagamento e assinatura que tem este CPF ou CNPJ, ou este e-mail? Valores, lançamentos e documentos fiscais ficam como estão.',
  taxIdOrEmail: 'CPF, CNPJ ou e-mail',
  eraseWhich: 'Toda cobrança, link de pagamento e assinatura cujo cliente o tem esquece o cliente.',
  erased: ({ orders, links, subscriptions }: { orders: number; links: number; subscriptions: number }) => {
    if (orders + links + subscriptions === 0) return 'Nenhuma cobrança, link de pagamento ou assinatura tinha este cliente.'
    const ofLinks = links === 0 ? ' e' : links === 1 ? ', 1 link de pagamento e' : `, ${links} links de pagamento e`
    return `Apagado de ${orders === 1 ? '1 cobrança' : `${orders} cobranças`}${ofLinks} ${subscriptions === 1 ? '1 assinatura' : `${subscriptions} assinaturas`}.`
  },
  document: 'Documento fiscal',
  having: { false: 'Sem documento', true: 'Com documento' },
  noDocument: 'Nenhum documento informado.',
  kind: 'Tipo',
  kinds: { nfe: 'NF-e ou NFC-e', nfse: 'NFS-e nacional' },
  key: 'Chave de acesso',
  keyHint: '44 caracteres na NF-e e na NFC-e, 50 na NFS-e. Espaços não importam.',
  nameDocument: 'Informar documento',
  changeDocument: 'Mudar documento',
  removeDocument: 'Tirar documento',
  removeSure: 'Tirar este documento da cobrança? A nota em si não muda.',
  setAt: 'Informado em',
  setBy: 'Por',
  byKey: 'Chave de API',
}
