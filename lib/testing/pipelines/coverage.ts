import type { Shape } from '../../common/wire/shape.js';
import type { TestCoverageSchema } from '../../common/wire/report.js';
import type { TestedDefinition } from './tested-definition.js';
import type { CaseOutcome } from './run-case.js';

/** How much of a definition the cases of a file have run together: tasks, and both ways of conditions and failures. */
export interface TestCoverage extends Shape<typeof TestCoverageSchema> {}

interface Branch {
  readonly name: string;
  readonly isTaken: (outcome: CaseOutcome) => boolean;
}

/** Collects what the cases of a file reach. A case cannot cancel its run: handlers of cancelled runs are not counted. */
export class CoverageCount {
  readonly #tasks: readonly string[];
  readonly #ran = new Set<string>();
  readonly #branches: readonly Branch[];
  readonly #taken = new Set<string>();

  constructor(tested: TestedDefinition) {
    this.#tasks = [...tested.tasks].flatMap(([name, { handlerOf }]) =>
      handlerOf === 'on_cancel' ? [] : [name],
    );
    this.#branches = [...listBranches(tested)];
  }

  add(outcome: CaseOutcome): void {
    for (const name of outcome.ran) this.#ran.add(name);
    for (const { name, isTaken } of this.#branches) if (isTaken(outcome)) this.#taken.add(name);
  }

  get coverage(): TestCoverage {
    const branches = this.#branches.map(({ name }) => name);
    return {
      tasks: { total: this.#tasks.length, never: this.#tasks.filter((name) => !this.#ran.has(name)) },
      branches: { total: branches.length, never: branches.filter((name) => !this.#taken.has(name)) },
    };
  }
}

function* listBranches({ tasks, checked }: TestedDefinition): Iterable<Branch> {
  for (const [name, task] of tasks) {
    if (task.handlerOf === 'on_cancel') continue;
    if (task.conditions.length > 0) yield* branchesOfCondition(name, ({ ran }) => ran.has(name));
    if (task.toleratesFailure)
      yield { name: `${name} fails`, isTaken: ({ failed }) => hasFailed(name, failed) };
    if (task.collectsErrors)
      yield { name: `an item of ${name} fails`, isTaken: ({ failed }) => hasFailed(name, failed) };
  }
  if (checked.kind === 'pipeline') return;
  for (const { id, when } of checked.plan.definition.sub_pipelines) {
    if (when === undefined) continue;
    yield* branchesOfCondition(id, ({ ran }) => [...ran].some((name) => name.startsWith(`${id}/`)));
  }
}

function* branchesOfCondition(name: string, hasRun: Branch['isTaken']): Iterable<Branch> {
  yield { name: `when of ${name} holds`, isTaken: hasRun };
  yield { name: `when of ${name} does not hold`, isTaken: ({ skipped }) => skipped.has(name) };
}

function hasFailed(name: string, failed: CaseOutcome['failed']): boolean {
  return failed.some(({ task }) => task === name);
}
