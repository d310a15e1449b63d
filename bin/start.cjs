'use strict';

// Starts the command from V8's compiled code, because compiling takes a third of the time of a short run. The compiled
// code lies in the user's cache folder; its name contains the build of the command, the version of Node.js and the
// architecture. Runs have a file of their own, since it contains what its first start has compiled. If the cache cannot be
// read or written, the command starts without it.
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const vm = require('node:vm');
const { createRequire } = require('node:module');

try {
  process.cwd();
} catch {
  fs.writeSync(2, 'wavetrain: the working directory does not exist any more; change to another one\n');
  process.exit(2);
}

const command = path.join(__dirname, '..', 'dist', 'cli.cjs');
const cache = process.env.NODE_DISABLE_COMPILE_CACHE ? undefined : cacheFile();
const script = compile(cache === undefined ? undefined : read(cache));
const exported = { exports: {} };
const importModule = (url) => import(url);
// Finds what lies beside the command, such as the providers of models.
const requireBeside = createRequire(command);
script.runInThisContext()(exported.exports, requireBeside, exported, command, path.dirname(command), importModule);
exported.exports.start(process.argv.slice(2));

function compile(cachedData) {
  // The build makes it ASCII.
  const source = fs.readFileSync(command, 'latin1');
  const compiled = new vm.Script(`(function (exports, require, module, __filename, __dirname, hostImport) {${source}\n})`, {
    filename: command,
    cachedData,
  });
  const isFresh = cachedData !== undefined && compiled.cachedDataRejected !== true;
  // Written at the end, when everything that this start needed is compiled.
  if (cache !== undefined && !isFresh) process.once('exit', () => write(cache, compiled.createCachedData()));
  return compiled;
}

function cacheFile() {
  const { size, mtimeMs } = fs.statSync(command);
  const kind = process.argv[2] === 'run' ? 'run' : 'command';
  const name = [kind, size, Math.round(mtimeMs), process.version, process.arch].join('-');
  const { XDG_CACHE_HOME: configured = '' } = process.env;
  // The standard of the variable says that a relative path is ignored.
  const home = path.isAbsolute(configured) ? configured : path.join(os.homedir(), '.cache');
  return path.join(home, 'wavetrain', name);
}

function read(file) {
  try {
    return fs.readFileSync(file);
  } catch {
    return undefined; // first start
  }
}

function write(file, data) {
  const beside = `${file}.${process.pid}`;
  try {
    makeFolder(path.dirname(file));
    fs.writeFileSync(beside, data, { mode: 0o600 });
    fs.renameSync(beside, file);
  } catch {
    // The next start compiles again.
    remove(beside);
  }
}

// The recursive mkdir of Node.js never returns for a folder that cannot be created, as in /proc.
function makeFolder(folder) {
  if (fs.existsSync(folder)) return;
  makeFolder(path.dirname(folder));
  fs.mkdirSync(folder, { mode: 0o700 });
}

function remove(file) {
  try {
    fs.unlinkSync(file);
  } catch {
    // It was not written.
  }
}
