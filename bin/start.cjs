'use strict';

// Starts the command from the code that V8 compiled at an earlier start: finding and compiling it anew is a third of
// what a short run takes. The compiled code is kept in the user's own cache folder, under a name that changes with
// the command, with Node.js and with the machine; whatever goes wrong with it, the command starts without.
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const vm = require('node:vm');

const command = path.join(__dirname, '..', 'dist', 'cli.cjs');
const cache = process.env.NODE_DISABLE_COMPILE_CACHE ? undefined : cacheFile();
const script = compile(cache === undefined ? undefined : read(cache));
const exported = { exports: {} };
const importModule = (url) => import(url);
script.runInThisContext()(exported.exports, require, exported, command, path.dirname(command), importModule);
exported.exports.start(process.argv.slice(2));

function compile(cachedData) {
  const source = fs.readFileSync(command, 'utf8');
  const compiled = new vm.Script(`(function (exports, require, module, __filename, __dirname, hostImport) {${source}\n})`, {
    filename: command,
    cachedData,
  });
  const isFresh = cachedData !== undefined && compiled.cachedDataRejected !== true;
  // At the end, when all that this start needed has been compiled.
  if (cache !== undefined && !isFresh) process.once('exit', () => write(cache, compiled.createCachedData()));
  return compiled;
}

function cacheFile() {
  const { size, mtimeMs } = fs.statSync(command);
  const name = ['command', size, Math.round(mtimeMs), process.version, process.arch].join('-');
  const home = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  return path.join(home, 'wavetrain', name);
}

function read(file) {
  try {
    return fs.readFileSync(file);
  } catch {
    return undefined; // the first start
  }
}

function write(file, data) {
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    fs.writeFileSync(`${file}.${process.pid}`, data, { mode: 0o600 });
    fs.renameSync(`${file}.${process.pid}`, file);
  } catch {
    // no place to keep it: the next start compiles again
  }
}
