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
}
