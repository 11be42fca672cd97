export { ChoiceFilter, ListCard, useFilters, useList } from './paging'
