import { WavetrainError } from '../common/errors.js';
import type { StartedBy } from '../common/wire/started-by.js';
import type { CheckedDefinition } from '../execution/prepare/run-inputs.js';
import type { IdempotencyKey, OnceAcceptedRun } from '../runs/idempotency.js';
import type { SubmissionOptions } from '../runs/registry-options.js';
import type { RunRegistry } from '../runs/registry.js';
import type { RerunReport } from '../runs/rerun/rerun-report.js';
import { wholeDefinition } from '../runs/views/whole-definition.js';
import type { RerunRequest } from '../runs/rerun/rerun.js';
import type { StoredSubmission } from '../runs/store/run-store.js';
import type { DefinitionChecker, DefinitionSource } from './definition-checker.js';

/** A run that a request, a schedule, a webhook, the command line, an MCP host or the library asks for (D73). */
export interface Submission extends SubmissionOptions {
  readonly definition: DefinitionSource;
  readonly values: SubmittedValues;
  readonly tenantId: string;
  readonly startedBy: StartedBy;
  /** The text that the definition was read from, to be shown to people who change it (D59). */
  readonly submittedText?: string | undefined;
}

/** A submission of which is not said yet who starts the run. */
export type SubmissionContent = Omit<Submission, 'startedBy'>;

/** The values of a run, as they were sent; those that do not fit the definition are refused. */
export type SubmittedValues = Pick<
  StoredSubmission,
  | 'params'
  | 'inputs'
  | 'session'
  | 'options'
  | 'breakpoints'
  | 'labels'
  | 'collect_events'
  | 'plan_concurrency'
>;

/** A rerun, with a changed definition if there is one (D60). */
export interface RerunSubmission extends Omit<RerunRequest, 'pipeline' | 'plan'> {
  readonly definition?: DefinitionSource | undefined;
}

type Registry = Pick<RunRegistry, 'submit' | 'submitPlan' | 'submitOnce' | 'rerun' | 'queries'>;

/** Checks a submission and hands it to the registry, whatever starts the run (D73). */
export class Submitter {
  readonly #registry: Registry;
  readonly #checker: DefinitionChecker;

  constructor(registry: Registry, checker: DefinitionChecker) {
    this.#registry = registry;
    this.#checker = checker;
  }

  /**
   * Resolves with the id of the run. Rejects with an InvalidDefinitionError with every problem of the definition, and as
   * `submit` of the registry does.
   */
  async submit(submission: Submission): Promise<string> {
    const { definition, values, tenantId } = submission;
    return submitChecked(this.#registry, await this.#checker.load(definition, values, tenantId), submission);
  }

  /**
   * Submits a run unless the key was used before, as `submitOnce` of the registry does (D36).
   *
   * @param read returns the submission; called if the key was not used before
   */
  submitOnce(
    tenantId: string,
    key: IdempotencyKey,
    read: () => Submission | Promise<Submission>,
  ): Promise<OnceAcceptedRun> {
    return this.#registry.submitOnce(tenantId, key, async ({ reservation }) =>
      this.submit({ ...(await read()), reservation }),
    );
  }

  /** Runs a settled run again, as `rerun` of the registry does. Rejects like `submit` for a changed definition. */
  async rerun(runId: string, rerun: RerunSubmission, options: SubmissionOptions): Promise<string> {
    return this.#registry.rerun(runId, await this.#checkRerun(runId, rerun), options);
  }

  /** Rejects as `rerun` does before a run exists. */
  async previewRerun(runId: string, rerun: RerunSubmission): Promise<RerunReport> {
    return this.#registry.queries.previewRerun(runId, await this.#checkRerun(runId, rerun));
  }

  /** Checks a changed definition with the values that the new run will have. */
  async #checkRerun(runId: string, { definition, ...request }: RerunSubmission): Promise<RerunRequest> {
    const { queries } = this.#registry;
    if (definition === undefined) return this.#recheck(runId, request);
    const values = await queries.rerunValues(runId, request);
    const { kind: _, ...checked } = await this.#checker.load(definition, values, queries.tenantId(runId));
    return { ...request, ...checked };
  }

  /** Checks the definition of the run again after a reload: a rerun calls the tools that there are now. */
  async #recheck(runId: string, request: RerunRequest): Promise<RerunRequest> {
    if (!this.#checker.hasOtherTools) return request;
    const { queries } = this.#registry;
    const kind = queries.kind(runId);
    const definition = await queries.inspectDefinition(runId, wholeDefinition);
    const values = await queries.rerunValues(runId, request);
    const rechecked = await this.#checker.loadKept({ kind, definition }, values, queries.tenantId(runId));
    return { ...request, rechecked };
  }
}

/**
 * Submits a run of a definition that was checked before. Resolves with its id. Rejects as `submit` of the registry does, and
 * with `invalid_request` for values that only a definition of the other kind takes.
 */
export async function submitChecked(
  registry: Pick<RunRegistry, 'submit' | 'submitPlan'>,
  definition: CheckedDefinition,
  submission: Omit<Submission, 'definition'>,
): Promise<string> {
  const { values, tenantId, submittedText } = submission;
  const { params, plan_concurrency, ...common } = values;
  const run = {
    ...common,
    tenant_id: tenantId,
    ...(submittedText !== undefined && { submitted_text: submittedText }),
  };
  if (definition.kind === 'plan') {
    if (params !== undefined && Object.keys(params).length > 0)
      throw new WavetrainError('invalid_request', NO_PARAMS);
    const concurrency = plan_concurrency === undefined ? {} : { plan_concurrency };
    return registry.submitPlan({ ...run, ...concurrency, plan: definition.plan }, submission);
  }
  if (plan_concurrency !== undefined) throw new WavetrainError('invalid_request', NO_CONCURRENCY);
  return registry.submit({ ...run, ...(params && { params }), pipeline: definition.pipeline }, submission);
}

const NO_PARAMS = 'a plan has no params: send values in "inputs"';
const NO_CONCURRENCY = '"plan_concurrency" is an option of plans, and this is a pipeline';
