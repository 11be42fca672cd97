export { Download } from './download'
export { ChoiceFilter, DateFilter, type Filters, startOfDay, useFilters } from './filters'
export { ListCard, useList } from './paging'
