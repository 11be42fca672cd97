import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

// Writes behind the tag of each image that is not built here the digest that the registry has for it now, so that what was tried is what runs:
//   node infra/pin-images.mjs                                          every image of the files below; needs docker buildx and the registries
//   node infra/pin-images.mjs ghcr.io/you/ponte/orders@sha256:… …      also our own images of a release, into the production overlay
// Run again it replaces the digests, after a tag was changed or a base image was rebuilt with its security fixes.
const OVERLAY = 'infra/kubernetes/overlays/production/kustomization.yaml'
const FILES = [
  'docker-compose.yml',
  'infra/Dockerfile',
  'infra/compose/postgres.Dockerfile',
  'infra/compose/production.yml',
  'infra/kubernetes/overlays/development/backing.yaml',
  'infra/kubernetes/overlays/production/postgres.yaml',
  'infra/kubernetes/overlays/production/rabbitmq.yaml',
]
/** A tag, and the digest of the last run. Our own images are made here: they have a digest once they are pushed. */
const REFERENCE = /(?<=^\s*(?:image: |imageName: |FROM |ARG NODE_IMAGE=))(?!ponte\/|\$)([\w./-]+:[\w.-]+)(?:@sha256:[0-9a-f]{64})?/gm
const DIGEST = /^sha256:[0-9a-f]{64}$/

const known = new Map()
function digestOf(image) {
  if (!known.has(image)) {
    const found = execFileSync('docker', ['buildx', 'imagetools', 'inspect', image, '--format', '{{.Manifest.Digest}}'], {
      encoding: 'utf8',
    })
    if (!DIGEST.test(found.trim())) throw new Error(`The registry named no digest of ${image}: ${found}`)
    known.set(image, found.trim())
  }
  return known.get(image)
}

function released(text, image) {
  const [, place, service, digest] = /^(\S+\/([\w-]+))@(sha256:[0-9a-f]{64})$/.exec(image) ?? []
  const line = new RegExp(`^ {2}- \\{ name: ponte/${service}, .*\\}$`, 'm')
  if (!digest || !line.test(text)) throw new Error(`${image} is none of our images by its digest.`)
  return text.replace(line, `  - { name: ponte/${service}, newName: ${place}, digest: ${digest} }`)
}

// Everything is asked before anything is written.
const written = FILES.map(file => [file, readFileSync(file, 'utf8').replace(REFERENCE, (_, image) => `${image}@${digestOf(image)}`)])
const images = process.argv.slice(2)
if (images.length > 0) written.push([OVERLAY, images.reduce(released, readFileSync(OVERLAY, 'utf8'))])
for (const [file, text] of written) writeFileSync(file, text)
for (const [image, digest] of known) console.log(`${image}@${digest}`)
