import { ThemeButton } from '../../brand/theme-button'
import { setLanguage } from '../../language'
import { useWords } from '../texts/words'

export function Tools() {
  const { t, language } = useWords()
  return (
    <fieldset className="tools">
      <legend className="hidden">{t.language}</legend>
      <button type="button" lang="pt-BR" aria-label="PT, Português" aria-pressed={language === 'pt'} onClick={() => setLanguage('pt')}>
        PT
      </button>
      <button type="button" lang="en" aria-label="EN, English" aria-pressed={language === 'en'} onClick={() => setLanguage('en')}>
        EN
      </button>
      <ThemeButton label={t.theme} />
    </fieldset>
  )
}
