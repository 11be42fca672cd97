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
      not_proven: 'A rede não mostra as provas agora. Peça de novo mais tarde.',
      too_large: 'Grande demais com as provas: peça um valor menor.',
    },
  },
  dossier: {
    title: 'Dossiê de origem',
    lead: 'Para quando uma corretora pergunta de onde vieram os USDC de uma retirada: pedidos, pagadores, transações com suas provas e o seu endereço de recebimento, assinado por esta instalação. Qualquer um verifica sem nós. Contém o que você anotou dos clientes.',
    amount: 'Valor retirado, em USDC',
    amountHint: 'É formado pelos movimentos mais novos que chegaram ao seu endereço de recebimento.',
    formats: { dossier_pdf: 'PDF, para enviar', dossier_json: 'JSON, para programas' },
    make: 'Preparar dossiê',
  },
}
