import type { Finding } from '../definition/schema/structure.js';
import type { Contract } from '../pipelines/contract.js';
import { type Compared, listPath, taskName } from './compared.js';
import type { DraftSubPipeline } from './draft.js';
import { type KnownKeys, once } from './key-findings.js';
import { readingFindings } from './reading-findings.js';

/** Does a pipeline keep to what the plan says of it (D46)? Told in the plan, where it is said. */
export function contractFindings(compared: Compared, known: KnownKeys): Finding[] {
  const { subPipeline, pipeline } = compared;
  const { contract } = pipeline;
  return [
    ...undeclaredStores(compared, known),
    ...unstoredKeys(subPipeline, contract, known),
    ...readingFindings(compared, known),
    ...unknownInputs(subPipeline, contract, known),
    ...contract.requiredParams.map((name) => requiredParam(name, subPipeline)),
  ];
}

function undeclaredStores(compared: Compared, { writers }: KnownKeys): Finding[] {
  const { subPipeline, pipeline } = compared;
  const declared = new Set(subPipeline.stores.map(({ key }) => key));
  return [...pipeline.contract.stores].flatMap(([key, task]): Finding[] => {
    if (declared.has(key)) return [];
    const writer = writers.first(key);
    const hint =
      writer === undefined
        ? `add "${key}" to its "stores"`
        : `sub-pipeline "${writer.id}" stores it: let ${taskName(task, compared)} store under another key`;
    return [
      {
        code: 'undeclared_store',
        message: `sub-pipeline "${subPipeline.id}" stores "${key}" without declaring it: ${taskName(task, compared)} does`,
        path: listPath(subPipeline, 'stores', subPipeline.stores),
        hint,
      },
    ];
  });
}

function unstoredKeys(
  { id, stores }: DraftSubPipeline,
  contract: Contract,
  { suggestions }: KnownKeys,
): Finding[] {
  const declared = new Set(stores.map(({ key }) => key));
  const undeclared = [...contract.stores.keys()].filter((key) => !declared.has(key));
  return once(stores).flatMap(({ key, path }): Finding[] => {
    if (contract.stores.has(key)) return [];
    if (contract.mayStoreMore) {
      const message = `no store task of sub-pipeline "${id}" names "${key}": whether it is stored shows in the run only`;
      return [{ code: 'never_stored', severity: 'warning', message, path }];
    }
    const hint = suggestions.hint(key, undeclared, 'take it out of "stores", or store it with a store task');
    return [{ code: 'never_stored', message: `sub-pipeline "${id}" never stores "${key}"`, path, ...hint }];
  });
}

function unknownInputs(
  { id, inputs }: DraftSubPipeline,
  contract: Contract,
  { inputs: known, suggestions }: KnownKeys,
): Finding[] {
  return once(inputs).flatMap(({ key, path }): Finding[] => {
    // Of one that the plan does not have, that is told.
    if (contract.inputs.has(key) || !known.has(key)) return [];
    const message = `the pipeline of sub-pipeline "${id}" neither declares nor reads the input "${key}"`;
    const hint = suggestions.hint(key, contract.inputs, 'take it out of "inputs"');
    return [{ code: 'unknown_input', message, path, ...hint }];
  });
}

function requiredParam(name: string, { id, path }: DraftSubPipeline): Finding {
  const message = `param "${name}" of sub-pipeline "${id}" has no default, and a plan gives no params`;
  return { code: 'missing_param', message, path, hint: 'give it a default, or make it an input' };
}
