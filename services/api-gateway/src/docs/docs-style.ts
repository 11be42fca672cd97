/** The colours of packages/web's tokens, so that the pages look like one product. */
export const docsStyle = `
:root {
  color-scheme: light dark; font: 16px/1.55 ui-sans-serif, system-ui, sans-serif;
  --paper: #f5f4ef; --card: #ffffff; --ink: #18211d; --soft: #57625c; --line: #e4e1d8; --accent: #0a5844; --accent-soft: #e4f0ea;
}
@media (prefers-color-scheme: dark) {
  :root { --paper: #0e1311; --card: #161c19; --ink: #e8eeea; --soft: #a0ada6; --line: #28312c; --accent: #74d7b7; --accent-soft: #16302a; }
}
body { margin: 0; background: var(--paper); color: var(--ink); }
main { max-width: 58rem; margin: 0 auto; padding: 1.5rem; }
a { color: var(--accent); }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 1rem 0 0.5rem; }
h2 { margin: 2.5rem 0 0.5rem; padding-top: 0.5rem; }
h3 { margin-bottom: 0; }
h4 { margin: 1rem 0 0; }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; padding: 0.5rem 0; }
nav.pages { align-items: baseline; gap: 0.25rem 0.75rem; font-size: 0.94rem; border-bottom: 1px solid var(--line); }
nav.pages div { display: flex; flex-wrap: wrap; flex-basis: 100%; gap: 0.25rem 0.75rem; }
nav.pages .brand { margin-right: auto; color: var(--ink); text-decoration: none; }
.brand { font-weight: 700; }
.brand svg { width: 1.4em; height: 1.4em; margin-right: 0.5em; vertical-align: -0.35em; }
nav a { padding: 0.3rem 0; }
section > p, li { max-width: 46rem; }
li { margin: 0.4rem 0; }
article { margin: 1.25rem 0; padding: 1rem 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.75rem; }
article :is(h2, h3):first-child { margin-top: 0; padding-top: 0; font-size: 1.1rem; overflow-wrap: anywhere; }
article h3 { margin-top: 1rem; font-size: 1rem; }
.operations, .found { padding: 0; list-style: none; }
.found p { margin: 0; color: var(--soft); }
.copied { position: relative; }
.copied .copy { position: absolute; top: 0.4rem; right: 0.4rem; padding: 0.2rem 0.6rem; font: inherit; font-size: 0.8rem; color: var(--soft); background: var(--card); border: 1px solid var(--line); border-radius: 0.4rem; cursor: pointer; opacity: 0; }
.copied:is(:hover, :focus-within) .copy { opacity: 1; }
@media (hover: none) { .copied .copy { opacity: 1; } }
input[type="search"] { width: 9rem; padding: 0.3rem 0.6rem; font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; }
small, .refused { color: var(--soft); }
code, pre { font: 0.9em/1.45 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
code { overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: 0.75rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; }
article pre { background: var(--paper); }
figure { margin: 1rem 0; }
figure pre { margin: 0; }
td figure { margin: 0; }
figcaption { color: var(--soft); }
.languages { position: sticky; top: 0; display: flex; flex-wrap: wrap; gap: 0 1.25rem; margin: 1rem 0; padding: 0.4rem 0; background: var(--paper); border: 0; border-bottom: 1px solid var(--line); }
.languages legend { float: left; padding: 0; line-height: 1.75rem; color: var(--soft); }
.languages label { display: flex; align-items: center; gap: 0.4rem; cursor: pointer; min-height: 1.75rem; }
.languages input { accent-color: var(--accent); margin: 0; }
main:has(#in-ts:checked) figure:is(.py, .php, .go), main:has(#in-py:checked) figure:is(.ts, .php, .go),
main:has(#in-php:checked) figure:is(.ts, .py, .go), main:has(#in-go:checked) figure:is(.ts, .py, .php) { display: none; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: 0.4rem 0.75rem 0.4rem 0; border-bottom: 1px solid var(--line); }
td p { margin: 0; }
td code, th code { overflow-wrap: normal; }
tr:target { background: var(--accent-soft); }
summary { cursor: pointer; padding: 0.3rem 0; }
.refused { margin: 0.5rem 0; font-size: 0.9em; }
@media (max-width: 40rem) {
  main { padding: 1rem; }
  table, tbody, tr, td { display: block; }
  thead { display: none; }
  tr { padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
  td { padding: 0; border: 0; }
  td code { overflow-wrap: anywhere; }
  td:first-child code { font-weight: 600; }
}
`

/** The product's mark, as packages/web has it. */
export const mark = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="9" fill="#0e6b54"/><path d="M5 21.500h22M8.500 21.500v-3a7.500 7.500 0 0 1 15 0v3M16 11v10.500" fill="none" stroke="#fff" stroke-width="2.200" stroke-linecap="round"/></svg>`
