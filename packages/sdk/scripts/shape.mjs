import { readFileSync } from 'node:fs'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'

// What public judges find wrong with a packed and an installed package: node shape.mjs TARBALL FOLDER.

const [tarball, folder] = process.argv.slice(2)
const { problems } = await checkPackage(createPackageFromTarballData(readFileSync(tarball)))
const { messages } = await publint({ pkgDir: folder, pack: false, strict: true })
console.log(JSON.stringify({ types: problems, manifest: messages }))
