import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Context, createContext, Script } from 'node:vm';
import type { RE2JS } from 're2js';
import { linearRegex } from '../../common/json-schema/linear-regex.js';
import { EXPRESSION_LIMITS } from '../../common/limits.js';

/** What one evaluation is given, and what it leaves behind. */
export interface Evaluation {
  readonly source: string;
  readonly input: unknown;
  readonly bindings: Readonly<Record<string, unknown>>;
  /** Sees every value of the result before it is written down. */
  readonly replacer: (key: string, value: unknown) => unknown;
  /** The result as JSON text; undefined when there is none. */
  text?: string | undefined;
  error?: unknown;
}

/** Runs within the sandbox; the last expression is kept, for the items of a fan-out share it. */
const EVALUATE = new Script(
  `(async () => {
    if (last === undefined || last.source !== evaluation.source) {
      const expression = jsonata(evaluation.source, options);
      expression.registerFunction('eval', () => {
        throw { code: 'switched_off', message: '$eval is switched off' };
      });
      last = { source: evaluation.source, expression };
    }
    return JSON.stringify(
      await last.expression.evaluate(evaluation.input, evaluation.bindings),
      evaluation.replacer,
    );
  })().then(
    (text) => { evaluation.text = text; },
    (error) => { evaluation.error = error; },
  );`,
  { filename: 'evaluate.js' },
);

let library: Script | undefined;

/**
 * JSONata in a room with its own queue of promises: an evaluation is over when {@link Sandbox.run} returns, and
 * whatever it is busy with can be stopped from outside. JSONata's own limits leave much unwatched: its signatures
 * and date pictures become regular expressions, and sorting, comparing and printing run unchecked.
 *
 * The room is no protection against JavaScript, and needs to be none: expressions cannot hold any.
 */
export class Sandbox {
  readonly #context: Context & { evaluation?: Evaluation | undefined };

  constructor() {
    const { timeoutMs: timeout, depth: stack, listLength: sequence } = EXPRESSION_LIMITS;
    this.#context = createContext(
      {
        // JSONata's base64 functions look for it there.
        global: { Buffer },
        options: { timeout, stack, sequence, RegexEngine: LinearRegExp },
        last: undefined,
      },
      { microtaskMode: 'afterEvaluate' },
    );
    library ??= loadLibrary();
    library.runInContext(this.#context);
  }

  /** @throws Error `ERR_SCRIPT_EXECUTION_TIMEOUT` when it was stopped; the sandbox is of no more use then. */
  run(evaluation: Evaluation): void {
    this.#context.evaluation = evaluation;
    try {
      EVALUATE.runInContext(this.#context, { timeout: EXPRESSION_LIMITS.hardTimeoutMs });
    } finally {
      this.#context.evaluation = undefined;
    }
  }
}

function loadLibrary(): Script {
  const file = createRequire(import.meta.url).resolve('jsonata');
  const source = readFileSync(file, 'utf8');
  return new Script(
    `const jsonata = ((module) => { const { exports } = module;\n${source}\nreturn module.exports; })({ exports: {} });`,
    {
      filename: file,
    },
  );
}

type Matcher = ReturnType<RE2JS['matcher']>;

/** The part of RegExp that JSONata uses, matching in linear time: `exec` from `lastIndex` on, as with the flag `g`. */
export class LinearRegExp {
  lastIndex = 0;
  readonly #regex: RE2JS;
  #text: string | undefined;
  #matcher: Matcher | undefined;

  /** @throws Error when the pattern is not supported (look-around, back-references). */
  constructor(pattern: RegExp) {
    this.#regex = linearRegex(pattern);
  }

  /** The next match and its groups, with its `index`; null when there is none. Moves `lastIndex` behind it. */
  exec(text: string): ((string | undefined)[] & { index: number }) | null {
    const matcher = this.#matcherFor(text);
    if (this.lastIndex > text.length || !matcher.find(this.lastIndex)) {
      this.lastIndex = 0;
      return null;
    }
    this.lastIndex = matcher.end();
    const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, i) => matcher.group(i) ?? undefined);
    return Object.assign(groups, { index: matcher.start() });
  }

  #matcherFor(text: string): Matcher {
    if (this.#matcher === undefined || this.#text !== text) {
      this.#matcher = this.#regex.matcher(text);
      this.#text = text;
    }
    return this.#matcher;
  }
}
