// bundle.mjs OUT: writes the page as one file: index.html with style.css and the bundled script. The content-security
// policy holds the hash of this script, so that browsers run no other one.
import {createHash} from 'node:crypto';
import {readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const folder = dirname(fileURLToPath(import.meta.url));
const result = await build({
  entryPoints: [join(folder, 'main.js')],
  bundle: true,
  minify: true,
  write: false,
  format: 'iife',
  target: 'es2020',
  charset: 'ascii',
  legalComments: 'inline',
});
const style = await build({entryPoints: [join(folder, 'style.css')], minify: true, write: false});

// The text of the script must not end the script element.
const script = result.outputFiles[0].text
  .trim()
  .replace(/<\/(script)/gi, '<\\/$1')
  .replace(/<!--/g, '<\\!--');
const parts = {
  '@SCRIPT_HASH@': createHash('sha256').update(script).digest('base64'),
  '@STYLE@': style.outputFiles[0].text.trim(),
  '@SCRIPT@': script,
};
let page = readFileSync(join(folder, 'index.html'), 'utf8');
for (const [mark, text] of Object.entries(parts)) page = page.replace(mark, () => text);
writeFileSync(process.argv[2], page);
