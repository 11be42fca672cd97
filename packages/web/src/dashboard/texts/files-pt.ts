/** Files of the ledger that are made in the background. */
export const filesPt = {
  files: {
    title: 'Arquivos para a contabilidade',
    lead: 'Todos os movimentos do período, até o momento do pedido. O arquivo é preparado em segundo plano e fica disponível por dois dias.',
    format: 'Formato',
    formats: { xlsx: 'Excel (XLSX)', csv: 'CSV', ofx: 'OFX (extrato do endereço de recebimento)', jsonl: 'JSON, uma linha por movimento' },
    range: 'Período',
    ranges: { month: 'Este mês', year: 'O ano inteiro', all: 'Tudo' },
    make: 'Preparar arquivo',
    all: 'Tudo',
    save: 'Baixar',
    waiting: 'Na fila',
    progress: (rows: string, total: string) => `${rows} de ${total} movimentos`,
    rows: (rows: string) => `${rows} movimentos`,
    failures: {
      too_many_rows: 'Mais de um milhão de movimentos: escolha um período menor.',
      not_finished: 'Não ficou pronto. Peça de novo.',
    },
  },
}
