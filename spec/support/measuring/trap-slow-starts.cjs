'use strict';

// Loaded into a process before the command: notes what is slow to load and was used, and from where. Prints it as JSON at
// the end of the process, on the descriptor 3.
const fs = require('node:fs');
const Module = require('node:module');

const SLOW_MODULES = new Set(['http', 'https', 'zlib']);

/** Functions that read the data of ICU, which takes as long to load as all tasks of a short run together. */
const OF_LOCALES = ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString', 'localeCompare', 'toLocaleUpperCase', 'toLocaleLowerCase'];

const found = [];

function note(what) {
  const [, , ...calls] = new Error().stack.split('\n');
  found.push([what, ...calls.filter((call) => !call.includes('node:')).slice(0, 4)].join('\n'));
}

const LOAD = '_load';
const load = Module[LOAD];
Module[LOAD] = (name, ...others) => {
  if (SLOW_MODULES.has(name.replace(/^node:/, ''))) note(`require('${name}')`);
  return load.call(Module, name, ...others);
};

const { Intl } = globalThis;
Object.defineProperty(globalThis, 'Intl', {
  get() {
    note('Intl');
    return Intl;
  },
});

for (const { prototype } of [Number, BigInt, Date, String, Array]) {
  for (const name of OF_LOCALES) {
    const method = prototype[name];
    if (method === undefined || !Object.hasOwn(prototype, name)) continue;
    prototype[name] = function (...options) {
      note(name);
      return method.apply(this, options);
    };
  }
}

const { prototype } = RegExp;
const exec = Reflect.get(prototype, 'exec');
Object.defineProperty(prototype, 'exec', {
  value(text) {
    if (this.source.includes('\\p{')) note(`the regular expression ${this.source}`);
    return exec.call(this, text);
  },
});

process.on('exit', () => fs.writeSync(3, JSON.stringify(found)));
