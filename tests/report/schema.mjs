// schema.mjs SCHEMA DOCUMENT...: whether each document is one that the schema describes. Speaks TAP.
import {readFileSync} from 'node:fs';
import {basename} from 'node:path';
import Ajv from 'ajv/dist/2020.js';

const [, , schema, ...documents] = process.argv;
const check = new Ajv({
  allErrors: false,
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  validateFormats: false,
}).compile(JSON.parse(readFileSync(schema, 'utf8')));
let failed = 0;
for (const path of documents) {
  const isGood = check(JSON.parse(readFileSync(path, 'utf8')));
  console.log(`${isGood ? 'ok' : 'not ok'} - ${basename(path)} is as docs/report-schema.json says`);
  if (!isGood) {
    failed++;
    for (const error of check.errors)
      console.log(`# ${error.instancePath || '/'} ${error.message} ${JSON.stringify(error.params)}`);
  }
}
process.exit(failed > 0 || documents.length === 0 ? 1 : 0);
