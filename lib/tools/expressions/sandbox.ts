import { type Context, createContext } from 'node:vm';
import type { ExpressionLimits } from '../../common/limits.js';
import { compileLibrary, type Library } from './library.js';

/** The values that the host and the program in the context exchange: text only. */
interface Globals extends Context {
  readonly limits: string;
  source: string;
  data: string;
  result: unknown;
  failure: unknown;
}

/** The result of one evaluation as JSON text, or JSON of `code`, `message` and `position`. */
export type SandboxResult = { readonly result: string } | { readonly failure: string };

/**
 * Runs JSONata in a VM context, so that an evaluation can be interrupted at any point. JSONata's own limits are
 * incomplete: it converts signatures and date formats into regular expressions, and does not limit sorting, comparing
 * and printing.
 *
 * The context holds nothing of the host: only text goes in and comes out, and text does not become code.
 */
export class Sandbox {
  readonly #library: Library;
  readonly #globals: Globals;
  readonly #hardTimeoutMs: number;
  #hasRegex = false;

  /** @throws ToolError, not retryable, when JSONata cannot be isolated */
  constructor(limits: ExpressionLimits) {
    this.#library = getLibrary();
    this.#hardTimeoutMs = limits.hardTimeoutMs;
    this.#globals = createExpressionContext(limits);
  }

  /**
   * Evaluates an expression.
   *
   * @param data JSON of an object with `input` and `bindings`
   * @throws Error `ERR_SCRIPT_EXECUTION_TIMEOUT` after `hardTimeoutMs`; the sandbox is unusable then
   */
  run(source: string, data: string): SandboxResult {
    this.#loadRegex(source);
    const globals = this.#globals;
    globals.source = source;
    globals.data = data;
    try {
      this.#library.evaluate.runInContext(globals, { timeout: this.#hardTimeoutMs });
      const { result, failure } = globals;
      if (typeof result === 'string') return { result };
      return { failure: String(failure) };
    } finally {
      globals.data = '';
      globals.result = undefined;
    }
  }

  /**
   * Parses an expression and evaluates nothing. Returns the syntax tree as JSON, or a failure as `run` does; undefined for an
   * expression that is too large for this stack.
   *
   * @throws Error `ERR_SCRIPT_EXECUTION_TIMEOUT` after `timeoutMs`; the sandbox is unusable then
   */
  parse(source: string, timeoutMs: number): SandboxResult | undefined {
    const globals = this.#globals;
    globals.source = source;
    this.#library.parse.runInContext(globals, { timeout: timeoutMs });
    const { result, failure } = globals;
    globals.result = undefined;
    if (typeof failure === 'string') return { failure };
    return typeof result === 'string' ? { result } : undefined;
  }

  /** Most expressions have no slash, and so no regular expression. */
  #loadRegex(source: string): void {
    if (this.#hasRegex || !source.includes('/')) return;
    this.#hasRegex = true;
    this.#library.loadRegex().runInContext(this.#globals);
  }
}

export function createExpressionContext(limits: ExpressionLimits): Globals {
  const globals: Globals = {
    // The prototype of a literal would lead to the host.
    __proto__: null,
    limits: JSON.stringify(limits),
    source: '',
    data: '',
    result: undefined,
    failure: undefined,
  };
  createContext(globals, {
    // Nothing there awaits anything. Should that change, it ends with the evaluation, too.
    microtaskMode: 'afterEvaluate',
    codeGeneration: { strings: false, wasm: false },
  });
  for (const script of getLibrary().start) script.runInContext(globals);
  return globals;
}

let library: Library | undefined;

function getLibrary(): Library {
  return (library ??= compileLibrary());
}
