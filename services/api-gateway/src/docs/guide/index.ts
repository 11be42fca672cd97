export { guidePages, quickstartPage } from './guide-pages'
