/** A bar below the checkout of a local system. It talks to the route beside it and leaves the page's own script alone. */
export const payerScript = `
const order = location.pathname.split('/')[2]
const bar = document.createElement('aside')
bar.id = 'sample-payer'
bar.setAttribute('aria-label', 'Local test chain')
const text = document.createElement('p')
text.textContent = 'Local test chain: USDC costs nothing here.'
text.setAttribute('role', 'status')
const button = document.createElement('button')
button.type = 'button'
button.textContent = 'Pay as the sample payer'
button.addEventListener('click', async () => {
  button.disabled = true
  text.textContent = 'Paying…'
  try {
    const answer = await fetch('/sample-payer/orders/' + order + '/pay', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    })
    const body = await answer.json()
    text.textContent = answer.ok ? body.payments.map(({ amount, tx_hash }) => 'Sent ' + amount + ' USDC: ' + tx_hash).join(' ') : body.detail
  } catch {
    text.textContent = 'The local system does not answer.'
  }
  button.disabled = false
})
bar.append(text, button)
document.body.append(bar)
`

export const payerStyle = `
#sample-payer { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; justify-content: center; padding: 0.75rem 1rem;
  border-top: 1px dashed var(--line-strong, #8b938e); font-size: 0.875rem; color: var(--soft, #57625c); }
#sample-payer p { margin: 0; overflow-wrap: anywhere; }
#sample-payer button { font: inherit; padding: 0.5rem 1rem; border: 1px solid var(--line-strong, #8b938e); border-radius: 0.5rem;
  background: var(--card, #fff); color: var(--ink, #18211d); cursor: pointer; min-height: 2.75rem; }
#sample-payer button:disabled { cursor: progress; opacity: 0.7; }
`
