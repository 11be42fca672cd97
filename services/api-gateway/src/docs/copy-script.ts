/** A button beside each text that is typed. The clipboard is there only where the page came over TLS or from this machine. */
export const copyScript = `
if (navigator.clipboard) for (const pre of document.querySelectorAll('pre')) {
  const button = document.createElement('button')
  const label = text => { button.textContent = text }
  button.type = 'button'
  button.className = 'copy'
  label('Copy')
  button.addEventListener('click', () => navigator.clipboard.writeText(pre.textContent).then(() => label('Copied'), () => label('Not allowed')))
  button.addEventListener('blur', () => label('Copy'))
  const frame = document.createElement('div')
  frame.className = 'copied'
  pre.replaceWith(frame)
  frame.append(pre, button)
}
`
