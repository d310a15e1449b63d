import { compile } from '../lib/compile/compile.js';
import { CompileFailedError, type CompileEffort, type CompileResult } from '../lib/compile/result.js';
import type { ModelAccess } from '../lib/models/models.js';
import type { CompileCase } from '../spec/compile/cases.js';

/** How one request was compiled. */
export interface EvaluatedCase {
  readonly isValid: boolean;
  readonly attempts: number;
  /** Tools that the definition should call and does not. */
  readonly missingTools: readonly string[];
  /** Fields that the definition should have and has not. */
  readonly missingFields: readonly string[];
  readonly tokens: number;
  /** The request asks for nothing that can be written, or the recorded model cannot. */
  readonly expectsNone: boolean;
}

/** Compiles each request with a model. Rejects when the model does not answer. */
export async function evaluate(
  cases: readonly CompileCase[],
  models: ModelAccess,
  model: string,
): Promise<EvaluatedCase[]> {
  const outcomes: EvaluatedCase[] = [];
  for (const { prompt, tools, fields = [], attempts } of cases) {
    const effort = await compile(prompt, { models, model }).catch((error: unknown) => {
      if (error instanceof CompileFailedError) return error;
      throw error;
    });
    outcomes.push({
      isValid: !(effort instanceof CompileFailedError),
      attempts: effort.attempts,
      missingTools: effort instanceof CompileFailedError ? [] : findMissing(effort, tools),
      missingFields: effort instanceof CompileFailedError ? [] : findMissingFields(effort, fields),
      tokens: countTokens(effort),
      expectsNone: attempts === 0,
    });
  }
  return outcomes;
}

function findMissing({ yaml_text: yaml }: CompileResult, tools: readonly string[]): string[] {
  return tools.filter((tool) => !new RegExp(`\\btool: *["']?${tool}\\b`).test(yaml));
}

function findMissingFields({ yaml_text: yaml }: CompileResult, fields: readonly string[]): string[] {
  return fields.filter((field) => !new RegExp(`(?:^|[\\s{,])${field}:`, 'm').test(yaml));
}

function countTokens({ usage }: CompileEffort): number {
  return usage.input_tokens + usage.output_tokens;
}

/** Formats what came of all requests as a Markdown table. */
export function formatTable(
  model: string,
  outcomes: readonly EvaluatedCase[],
  { tokens = true }: { readonly tokens?: boolean } = {},
): string {
  const wanted = outcomes.filter(({ expectsNone }) => !expectsNone);
  const valid = wanted.filter(
    ({ isValid, missingTools, missingFields }) =>
      isValid && missingTools.length === 0 && missingFields.length === 0,
  );
  const atOnce = valid.filter(({ attempts }) => attempts === 1);
  const refused = outcomes.filter(({ expectsNone, isValid }) => expectsNone && !isValid);
  const mean = (numbers: readonly number[]): string =>
    (numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length)).toFixed(1);
  const rows: readonly (readonly [string, string])[] = [
    ['requests', String(outcomes.length)],
    ['valid at once, with the right tools and fields', `${atOnce.length} of ${wanted.length}`],
    ['valid after repairs', `${valid.length} of ${wanted.length}`],
    ['no definition where none is expected', `${refused.length} of ${outcomes.length - wanted.length}`],
    ['answers for each request', mean(outcomes.map(({ attempts }) => attempts))],
    ...(tokens ? [['tokens for each request', mean(outcomes.map((one) => one.tokens))] as const] : []),
  ];
  return [`| | ${model} |`, '|---|---|', ...rows.map(([what, count]) => `| ${what} | ${count} |`)].join('\n');
}
