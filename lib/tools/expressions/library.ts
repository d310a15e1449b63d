import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Script } from 'node:vm';
import { ToolError } from '../../common/errors.js';
import { CONTEXT_PRELUDE, CONTEXT_PROGRAM } from './context-program.js';

interface Change {
  readonly why: string;
  /** Occurs once in the library. */
  readonly from: string;
  readonly to: string;
}

/**
 * What JSONata lacks so that no evaluation can affect another. Functions are ordinary objects for it: without these
 * changes an expression can read the fields of a function, and replace them. package.json pins the version.
 */
const CHANGES: readonly Change[] = [
  {
    why: 'the fields of functions are frozen: built-in ones outlive an evaluation',
    from: 'function defineFunction(func, signature) {',
    to: 'function defineFunction(func, signature) { return harden(createFunction(func, signature)); }\nfunction createFunction(func, signature) {',
  },
  {
    why: 'the syntax tree of composed functions is frozen: all expressions share it',
    from: "var chainAST = parser('function($f, $g) { function($x){ $g($f($x)) } }');",
    to: "var chainAST = freezeAll(parser('function($f, $g) { function($x){ $g($f($x)) } }'));",
  },
  {
    why: 'the operator ~> |…|…| changes data only',
    from: 'var match = matches[ii];',
    to: 'var match = assertData(matches[ii], expr.position);',
  },
  {
    why: 'a function has no keys: they lead to frames, syntax trees and functions of JavaScript',
    from: "return typeof arg === 'object' && arg !== null ? Object.keys(arg) : [];",
    to: "return typeof arg === 'object' && arg !== null && !isFunction(arg) ? Object.keys(arg) : [];",
  },
];

/** The scripts that a context runs, in this order. */
export interface Library {
  readonly start: readonly Script[];
  /** Evaluates one expression. */
  readonly evaluate: Script;
  /** Parses one expression. */
  readonly parse: Script;
  /** Compiles regular expressions; run when the first one may be needed. */
  loadRegex(): Script;
}

/**
 * Compiles the scripts.
 *
 * @throws ToolError, not retryable, when this version of JSONata is not the one that the changes are for
 */
export function compileLibrary(): Library {
  let regex: Script | undefined;
  return {
    start: [
      new Script(CONTEXT_PRELUDE, { filename: 'context-prelude.js' }),
      new Script(`const jsonata = ${asModule(CHANGES.reduce(applyChange, readPackage('jsonata')))};`, {
        filename: 'jsonata.js',
      }),
      new Script(CONTEXT_PROGRAM, { filename: 'context-program.js' }),
    ],
    evaluate: new Script('evaluateToGlobals();', { filename: 'evaluate.js' }),
    parse: new Script('parseToGlobals();', { filename: 'parse.js' }),
    loadRegex: () =>
      (regex ??= new Script(`const re2 = ${asModule(readPackage('re2js'))};`, { filename: 're2js.js' })),
  };
}

function applyChange(source: string, { why, from, to }: Change): string {
  const parts = source.split(from);
  if (parts.length !== 2) {
    throw ToolError.nonRetryable(`expressions need another version of the package jsonata: ${why}`);
  }
  return parts.join(to);
}

function readPackage(name: string): string {
  return readFileSync(createRequire(import.meta.url).resolve(name), 'utf8');
}

/** Returns an expression that evaluates to the exports of a CommonJS module. */
function asModule(source: string): string {
  return `((module) => { const { exports } = module;\n${source}\nreturn module.exports; })({ exports: {} })`;
}
