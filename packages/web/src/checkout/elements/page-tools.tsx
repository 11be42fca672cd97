import { ThemeButton } from '../../brand'
import { setLanguage } from '../../language'
import { useWords } from '../texts'
import './page-tools.css'

export function PageTools() {
  const { t, language } = useWords()
  return (
    <div className="tools">
      <fieldset className="languages">
        <legend className="hidden">{t.language}</legend>
        <button type="button" lang="pt-BR" aria-pressed={language === 'pt'} onClick={() => setLanguage('pt')}>
          Português
        </button>
        <button type="button" lang="en" aria-pressed={language === 'en'} onClick={() => setLanguage('en')}>
          English
        </button>
      </fieldset>
      <ThemeButton label={t.theme} className="icon" />
    </div>
  )
}
