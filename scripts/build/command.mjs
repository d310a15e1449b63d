import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, transform } from 'esbuild';

/**
 * Modules of Node.js that few runs use. Whoever imports one gets a stand-in, and the module is loaded when something of it
 * is used: Node.js compiles its modules when they are first loaded, `node:http` alone in as long as a task takes.
 */
const ON_DEMAND = ['child_process', 'dgram', 'http', 'https', 'readline', 'v8', 'worker_threads', 'zlib'];

/** Finds a part of the command by its name, such as `./cli.js`, and whatever else by the `require` of bin/start.cjs. */
const REQUIRE_PART = `
const parts = Object.create(null);
const onDemand = new Set(${JSON.stringify(ON_DEMAND)}.flatMap((name) => [name, 'node:' + name]));
const standIn = (name) => new Proxy({}, {
  get: (_, key) => require(name)[key],
  has: (_, key) => key in require(name),
  ownKeys: () => Reflect.ownKeys(require(name)),
  getOwnPropertyDescriptor: (_, key) => {
    const found = Reflect.getOwnPropertyDescriptor(require(name), key);
    return found && { ...found, configurable: true };
  },
});
const load = (name) => {
  const code = sources[name];
  if (code === undefined && !onDemand.has(name)) return require(name);
  const known = parts[name];
  if (known !== undefined) return known.exports;
  const part = { exports: code === undefined ? standIn(name) : {} };
  parts[name] = part;
  code?.(part.exports, load, part);
  return part.exports;
};
module.exports = load('./cli.js');
`;

/** Clipanion asks the terminal for its colours, which the command knows better, and loads `tty` where there is none. */
const withoutColourDepth = {
  name: 'without-colour-depth',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^tty$/ }, ({ path, importer }) => {
      return importer.includes('clipanion') ? { path, namespace: 'no-terminal' } : undefined;
    });
    onLoad({ filter: /./, namespace: 'no-terminal' }, () => ({
      contents: 'exports.WriteStream = class {};',
    }));
  },
};

/** Loads the classes of commands when they are needed, but those of the most frequent ones. From source, all are at hand. */
const commandsOnDemand = {
  name: 'commands-on-demand',
  setup({ onResolve, initialOptions }) {
    const cli = join(initialOptions.absWorkingDir, 'lib', 'cli');
    onResolve({ filter: /\/commands\/index\.js$/ }, ({ importer }) => {
      return importer === join(cli, 'main.ts') ? { path: join(cli, 'lazy', 'commands.ts') } : undefined;
    });
  },
};

/**
 * Builds the command into one file, `dist/cli.cjs`. It consists of parts, one for each group of modules that are loaded
 * together, and runs the code of a part when it is first needed: V8 then neither compiles nor keeps what a run leaves
 * aside, and reads one file instead of fifty.
 */
export async function buildCommand({ url, ...options }) {
  const { outputFiles, metafile } = await build({
    ...options,
    plugins: [...options.plugins, withoutColourDepth, commandsOnDemand],
    entryPoints: { cli: 'lib/cli/main.ts' },
    chunkNames: 'part-[hash]',
    format: 'esm',
    splitting: true,
    write: false,
    metafile: true,
    minify: true,
    define: { 'import.meta.url': '__url' },
  });
  const { absWorkingDir: root, outdir, target } = options;
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  const names = [...texts.keys()].filter((name) => name.endsWith('.js'));
  const file = new JoinedFile();
  file.add(`${url}const sources={__proto__:null,\n`);
  for (const name of names) {
    const map = Buffer.from(texts.get(`${name}.map`)).toString('base64');
    const { code, map: sourceMap } = await transform(
      `${texts.get(name)}\n//# sourceMappingURL=data:application/json;base64,${map}`,
      {
        // The name of a module of ES, so that default imports of CommonJS packages mean what they mean in Node.js.
        sourcefile: name.replace(/\.js$/, '.mjs'),
        loader: 'js',
        format: 'cjs',
        platform: 'node',
        target,
        minify: true,
        sourcemap: 'external',
        sourcesContent: false,
        // Code from the compile cache cannot use import(): packages are required, and bin/start.cjs imports tool files.
        supported: { 'dynamic-import': false },
      },
    );
    file.add(`${JSON.stringify(`./${name}`)}(exports,require,module){\n`);
    file.add(toAscii(code), JSON.parse(sourceMap));
    file.add('},\n');
  }
  const { code } = await transform(REQUIRE_PART, { minifyWhitespace: true, target });
  file.add(`};${code}//# sourceMappingURL=cli.cjs.map\n`);
  writeFileSync(join(root, outdir, 'cli.cjs'), file.text);
  writeFileSync(join(root, outdir, 'cli.cjs.map'), JSON.stringify(file.sourceMap));
  return metafile;
}

/** A file that consists of others, and its source map. Each text ends with a line break. */
class JoinedFile {
  text = '';
  #lines = 0;
  #sections = [];

  add(text, map) {
    if (map !== undefined) this.#sections.push({ offset: { line: this.#lines, column: 0 }, map });
    this.text += text;
    this.#lines += text.split('\n').length - 1;
  }

  get sourceMap() {
    return { version: 3, sections: this.#sections };
  }
}

/**
 * Escapes what esbuild leaves as it is, in regular expressions: bin/start.cjs reads the file as Latin-1, in a fifth of the
 * time that UTF-8 takes, and V8 keeps a text with other characters in twice the memory.
 */
function toAscii(code) {
  return code.replaceAll(/[^\0-\x7f]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
