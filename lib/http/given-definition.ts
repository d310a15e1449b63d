import type { Problem } from '../definition/problem.js';
import type { DefinitionKind } from '../definition/schema/root.js';
import { WavetrainError } from '../common/errors.js';

/** A definition as it came. */
export type GivenDefinition = { readonly text: string } | { readonly value: Record<string, unknown> };

/** Reading YAML takes seconds for a megabyte, and holds everybody up; JSON does not. */
const YAML_LIMIT_BYTES = 256 * 1024;

/**
 * The one definition of a request: its body as YAML, or a part of its JSON (D33).
 *
 * @param value what the body has in the field of its `kind`
 * @throws WavetrainError `invalid_request` when there is none, or more than one
 */
export function definitionIn(
  kind: DefinitionKind,
  value: Record<string, unknown> | undefined,
  text: string | undefined,
): GivenDefinition {
  if (text !== undefined && value === undefined) return { text };
  if (text === undefined && value !== undefined) return { value };
  const message =
    text === undefined
      ? `field "${kind}" is missing: the definition goes there, or as text into "yaml"`
      : `give the definition once: as ${kind} or as yaml`;
  throw new WavetrainError('invalid_request', message);
}

/**
 * Texts of one request are read one after another: what counts is how long they are together.
 *
 * @throws WavetrainError `body_too_large`
 */
export function refuseLong(texts: readonly string[]): void {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length <= YAML_LIMIT_BYTES) return;
  const limit = `YAML may have ${YAML_LIMIT_BYTES / 1024} KiB here`;
  throw new WavetrainError(
    'body_too_large',
    texts.length > 1
      ? `${limit}, all texts together: send longer definitions as JSON`
      : `${limit}: send a longer definition as JSON`,
  );
}

/** The validator knows what it was given, and not where over HTTP that belongs. */
export function withAddress(problems: readonly Problem[], wanted: DefinitionKind): readonly Problem[] {
  const isRoot = ({ path }: Problem): boolean => path === '' || path === `/${wanted}`;
  return problems.map((problem) =>
    problem.code === 'invalid_value' && isRoot(problem)
      ? { ...problem, hint: SEND_IT_THERE[wanted] }
      : problem,
  );
}

const SEND_IT_THERE: Readonly<Record<DefinitionKind, string>> = {
  pipeline: 'send it to /plans/run, /plans/run_async or /plans/validate',
  plan: 'send it to /pipelines/run, /pipelines/run_async or /pipelines/validate',
};
