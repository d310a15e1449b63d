import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Context, createContext, Script } from 'node:vm';
import { LinearRegExp } from '../../common/json-schema/linear-regex.js';
import type { ExpressionLimits } from '../../common/limits.js';

/** The inputs of one evaluation, and its result or error once it has run. */
export interface Evaluation {
  readonly source: string;
  readonly input: unknown;
  readonly bindings: Readonly<Record<string, unknown>>;
  /** Receives every value of the result, as in `JSON.stringify`. */
  readonly replacer: (key: string, value: unknown) => unknown;
  /** The result as JSON text; undefined when the expression matched nothing. */
  text?: string | undefined;
  error?: unknown;
}

/** Runs inside the sandbox. Keeps the last expression, since the items of a fan-out share it. */
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
 * Runs JSONata in a VM context with its own microtask queue, so that an evaluation has ended when {@link Sandbox.run}
 * returns and can be interrupted at any point. JSONata's own limits are incomplete: it converts signatures and date
 * formats into regular expressions, and does not limit sorting, comparing and printing.
 *
 * The context does not isolate JavaScript, and need not: an expression cannot contain any.
 */
export class Sandbox {
  readonly #context: Context & { evaluation?: Evaluation | undefined };
  readonly #hardTimeoutMs: number;

  constructor({ timeoutMs: timeout, hardTimeoutMs, depth: stack, listLength: sequence }: ExpressionLimits) {
    this.#hardTimeoutMs = hardTimeoutMs;
    this.#context = createContext(
      {
        // JSONata's base64 functions use global.Buffer.
        global: { Buffer },
        options: { timeout, stack, sequence, RegexEngine: LinearRegExp },
        last: undefined,
      },
      { microtaskMode: 'afterEvaluate' },
    );
    library ??= loadLibrary();
    library.runInContext(this.#context);
  }

  /** @throws Error `ERR_SCRIPT_EXECUTION_TIMEOUT` after `hardTimeoutMs`; the sandbox is unusable then */
  run(evaluation: Evaluation): void {
    this.#context.evaluation = evaluation;
    try {
      EVALUATE.runInContext(this.#context, { timeout: this.#hardTimeoutMs });
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
    { filename: file },
  );
}
