import { readFileSync } from 'node:fs'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'

// Judges a packed and an installed package by public judges: node shape.mjs TARBALL FOLDER. A package without types, which is a program, has no problem with them.

const [tarball, folder] = process.argv.slice(2)
const { problems = [] } = await checkPackage(createPackageFromTarballData(readFileSync(tarball)))
const { messages } = await publint({ pkgDir: folder, pack: false, strict: true })
console.log(JSON.stringify({ types: problems, manifest: messages }))
