import type { Command } from 'commander'
import { UsageError } from './profile'

export function completion(shell: string, program: Command): string {
  const groups = program.commands.map(command => ({ name: command.name(), words: command.commands.map(sub => sub.name()).join(' ') }))
  const top = groups.map(({ name }) => name).join(' ')
  const cases = groups.filter(({ words }) => words !== '').map(({ name, words }) => `    ${name}) words="${words}" ;;`)
  const bash = [
    '_ponte() {',
    '  local words=""',
    `  if [ "$COMP_CWORD" -eq 1 ]; then words="${top}"; else case "\${COMP_WORDS[1]}" in`,
    ...cases,
    '  esac; fi',
    `  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))`,
    '}',
    'complete -F _ponte ponte',
  ]
  const fish = groups.flatMap(({ name, words }) => [
    `complete -c ponte -n __fish_use_subcommand -f -a ${name}`,
    ...(words === '' ? [] : [`complete -c ponte -n '__fish_seen_subcommand_from ${name}' -f -a '${words}'`]),
  ])
  const scripts: Record<string, string[]> = { bash, zsh: ['autoload -U +X bashcompinit && bashcompinit', ...bash], fish }
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
  if (!script) throw new UsageError('Completion is there for bash, zsh and fish.')
  return script.join('\n')
}
