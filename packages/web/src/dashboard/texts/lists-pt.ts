/** Filters of lists, and what stands below them. */
export const listsPt = {
  lists: {
    by: 'Data de',
    network: 'Rede',
    created: 'Criação',
    paid: 'Pagamento',
    download: 'Baixar CSV',
    from: 'De',
    to: 'Até',
    searching: 'Nada entre as 5.000 linhas procuradas',
    searchingText: 'A busca continua a partir dali, com o botão abaixo.',
  },
  find: {
    title: 'Encontrar',
    hint: 'Uma página, ou o que você sabe de uma cobrança',
    all: (text: string) => `Todas as cobranças com “${text}”`,
    found: (count: string) => (count === '0' ? 'Nenhuma cobrança encontrada' : count === '1' ? '1 cobrança' : `${count} cobranças`),
  },
}
