import { ThemeButton } from '../../brand/theme-button'
import { type Language, setLanguage } from '../../language'
import { loadTexts, useWords } from '../texts/words'
import './page-tools.css'

// Without a network the page stays in its language.
const show = (language: Language) =>
  loadTexts(language).then(
    () => setLanguage(language),
    () => undefined,
  )

export function PageTools() {
  const { t, language } = useWords()
  return (
    <div className="tools">
      <fieldset className="languages">
        <legend className="hidden">{t.language}</legend>
        <button type="button" lang="pt-BR" aria-pressed={language === 'pt'} onClick={() => show('pt')}>
          Português
        </button>
        <button type="button" lang="en" aria-pressed={language === 'en'} onClick={() => show('en')}>
          English
        </button>
      </fieldset>
      <ThemeButton label={t.theme} className="icon" />
    </div>
  )
}
