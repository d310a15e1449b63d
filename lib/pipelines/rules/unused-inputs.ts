import type { Problem } from '../../definition/problem.js';
import { Suggestions } from '../suggestions.js';

/** What a run may be given, and the words for what it may not. */
interface Taken {
  readonly inputs: ReadonlySet<string>;
  /** Params have values of their own (D4). */
  readonly params?: ReadonlySet<string>;
  /** Why another input is of no use: `the pipeline neither ...`. */
  readonly why: string;
}

/**
 * Inputs given for a run that nothing takes: mostly slips (D5). Warnings, for the run can do without them; they
 * stand beside the definition, and so have no place in it.
 */
export function superfluousInputs(given: Iterable<string>, { inputs, params, why }: Taken): Problem[] {
  const suggestions = new Suggestions();
  return [...given].flatMap((key): Problem[] => {
    if (inputs.has(key)) return [];
    const message = `the input "${key}" is given for the run, and ${why}`;
    const hint =
      params?.has(key) === true
        ? { hint: `"${key}" is a param: pass it with --params` }
        : suggestions.hint(key, inputs);
    return [{ code: 'unknown_input', message, path: '', severity: 'warning', ...hint }];
  });
}
