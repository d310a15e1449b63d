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
 * Changes without which an evaluation could affect another, or an error would mislead. Functions are ordinary objects for JSONata: as it comes,
 * an expression can read the fields of a function, and replace them. package.json pins the version.
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
    why: 'an error is at the innermost place: that of a call around it, which has its own message, would mislead',
    from: 'err.position = proc.position || err.position;',
    to: 'err.position = err.position || proc.position;',
  },
  {
    why: 'a function has no keys: they lead to frames, syntax trees and functions of JavaScript',
    from: "return typeof arg === 'object' && arg !== null ? Object.keys(arg) : [];",
    to: "return typeof arg === 'object' && arg !== null && !isFunction(arg) ? Object.keys(arg) : [];",
  },
];

/** Merging recurses as deep as the list is long, once JSONata is synchronous. */
const MERGE_IN_LOOP: Change = {
  why: 'sorting merges in a loop',
  from: `var merge_iter = async function (result, left, right) {
                if (left.length === 0) {
                    Array.prototype.push.apply(result, right);
                } else if (right.length === 0) {
                    Array.prototype.push.apply(result, left);
                } else if (await comp(left[0], right[0])) { // invoke the comparator function
                    // if it returns true - swap left and right
                    result.push(right[0]);
                    await merge_iter(result, left, right.slice(1));
                } else {
                    // otherwise keep the same order
                    result.push(left[0]);
                    await merge_iter(result, left.slice(1), right);
                }
            };
            var merged = [];
            await merge_iter(merged, l, r);
            return merged;`,
  to: `var merged = [], i = 0, j = 0;
            while (i < l.length && j < r.length) merged.push(await comp(l[i], r[j]) ? r[j++] : l[i++]);
            while (i < l.length) merged.push(l[i++]);
            while (j < r.length) merged.push(r[j++]);
            return merged;`,
};

/**
 * JSONata awaits each step, for functions of a host that return promises. There are none here. Without promises it can
 * be stopped anywhere: Node.js ends a process whose promise was stopped while async hooks are in use (AsyncLocalStorage
 * is enough).
 */
function makeSynchronous(source: string): string {
  return applyChange(source, MERGE_IN_LOOP)
    .replace(/\b(?:async|await) (?=[\w(])/g, '')
    .replaceAll('Promise.all(', '(');
}

/** The scripts that a context runs, in this order. */
export interface Library {
  readonly start: readonly Script[];
  readonly evaluate: Script;
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
  const jsonata = makeSynchronous(CHANGES.reduce(applyChange, readPackage('jsonata')));
  let regex: Script | undefined;
  return {
    start: [
      new Script(CONTEXT_PRELUDE, { filename: 'context-prelude.js' }),
      new Script(`const jsonata = ${asModule(jsonata)};`, { filename: 'jsonata.js' }),
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
  if (parts.length !== 2)
    throw ToolError.nonRetryable(`expressions need another version of the package jsonata: ${why}`);
  return parts.join(to);
}

function readPackage(name: string): string {
  return readFileSync(createRequire(import.meta.url).resolve(name), 'utf8');
}

/** Returns an expression that evaluates to the exports of a CommonJS module. */
function asModule(source: string): string {
  return `((module) => { const { exports } = module;\n${source}\nreturn module.exports; })({ exports: {} })`;
}
