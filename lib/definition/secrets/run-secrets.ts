import { createHmac, randomBytes } from 'node:crypto';
import { WavetrainError } from '../../common/errors.js';
import { formatFirst } from '../../common/text.js';
import { findSecretProblem } from './encodings.js';
import { type LineMasker, MASK, Masker } from './masker.js';

/** Where the values of secrets come from (D61). */
export interface SecretSource {
  /**
   * Returns the value of a secret; undefined when the tenant has none of that name. Called before a run begins, and again
   * when a task runs a pipeline that was not known before.
   */
  find(tenantId: string, name: string): string | undefined;
  /** Says how a missing secret is added, as the end of a sentence. */
  explain?(tenantId: string, name: string): string;
  /** Called with every further value that a run masks, such as the password of a connection. */
  onHidden?(value: string): void;
}

interface NeededSecret {
  /** Ids of the tasks that read the secret. */
  readonly tasks: ReadonlySet<string>;
  /** True when every template that reads the secret has a fallback. */
  readonly isOptional: boolean;
}

/** Maximum number of secrets of one run: each makes masking its outputs take longer. */
const MAX_SECRETS = 100;

/** In an error message. */
const MAX_LISTED = 5;

/** Digests compare secrets within this process, and say nothing outside of it. */
const DIGEST_KEY = randomBytes(32);

const NO_MASKER: LineMasker = { mask: (text) => text, find: () => [], longest: 0, longestWithBreak: 0 };

/**
 * The secrets of one submitted run, with its sub-pipelines and nested runs: their values for templates, and the masker
 * that replaces them in whatever is kept, shown or printed (D61).
 */
export class RunSecrets {
  /** Undefined for a run without secrets, which nothing need be masked for. */
  masker: Masker | undefined;
  /** Receives the names of the secrets that are added from then on. */
  onAdded: ((names: readonly string[]) => void) | undefined;
  readonly #source: SecretSource | undefined;
  readonly #tenantId: string;
  #values: Record<string, string> | undefined;
  /** Masked values that no template can read. */
  readonly #hidden = new Set<string>();
  #digests: Map<string, string> | undefined;

  /** @param source undefined when there are no secrets at all */
  constructor(source: SecretSource | undefined, tenantId: string) {
    this.#source = source;
    this.#tenantId = tenantId;
  }

  /** By name, for templates; undefined when there are none. */
  get values(): Readonly<Record<string, string>> | undefined {
    return this.#values;
  }

  /** The mask in place of each value, for those who look at the run. */
  get maskedValues(): Readonly<Record<string, string>> | undefined {
    return this.#values && Object.fromEntries(Object.keys(this.#values).map((name) => [name, MASK]));
  }

  /** By name, what two runs compare instead of the values. */
  get digests(): ReadonlyMap<string, string> | undefined {
    return this.#digests;
  }

  /** Masks output that arrives piece by piece. */
  get lineMasker(): LineMasker {
    return this.masker ?? NO_MASKER;
  }

  /** Masks a text before anybody sees it. */
  mask(text: string): string {
    return this.masker === undefined ? text : this.masker.mask(text);
  }

  /**
   * Adds the secrets of a pipeline, by name. Call before it begins.
   *
   * @throws WavetrainError `secret_missing`, also for a value that cannot be masked
   */
  add(needed: ReadonlyMap<string, NeededSecret>): void {
    if (needed.size === 0) return;
    const added: [string, string][] = [];
    const problems: string[] = [];
    for (const [name, use] of needed) {
      if (this.#values !== undefined && Object.hasOwn(this.#values, name)) continue;
      const value = this.#source?.find(this.#tenantId, name);
      const problem = value === undefined ? undefined : findSecretProblem(value);
      if (problem !== undefined) problems.push(`the value of the secret "${name}" ${problem}`);
      else if (value !== undefined) added.push([name, value]);
      else if (!use.isOptional) problems.push(this.#describeMissing(name, use));
    }
    if (problems.length > 0) {
      throw new WavetrainError('secret_missing', formatFirst(problems, MAX_LISTED).join('; '));
    }
    if (added.length > 0) this.#use(added);
  }

  /**
   * Masks further values that no template can read, such as the password of a connection. Leaves out those that masking
   * would find everywhere.
   *
   * @throws WavetrainError `secret_missing` when there are too many
   */
  hide(values: Iterable<string>): void {
    const added = [...values].filter(
      (value) => !this.#hidden.has(value) && findSecretProblem(value) === undefined,
    );
    if (added.length === 0) return;
    this.masker = createMasker([...Object.values(this.#values ?? {}), ...this.#hidden, ...added]);
    for (const value of added) {
      this.#hidden.add(value);
      this.#source?.onHidden?.(value);
    }
  }

  #describeMissing(name: string, { tasks }: NeededSecret): string {
    const [task = ''] = tasks;
    const advice = this.#source?.explain?.(this.#tenantId, name) ?? `set SECRET_${name} in the environment`;
    return `there is no secret "${name}", which task "${task}" reads: ${advice}`;
  }

  /** Adds values. When an error is thrown, nothing has changed: a value can be read only when the masker knows it. */
  #use(added: readonly [string, string][]): void {
    const values: Record<string, string> = Object.assign(Object.create(null), this.#values);
    const digests = new Map(this.#digests);
    for (const [name, value] of added) {
      values[name] = value;
      digests.set(name, createHmac('sha256', DIGEST_KEY).update(value).digest('base64'));
    }
    const masker = createMasker([...Object.values(values), ...this.#hidden]);
    this.#values = values;
    this.#digests = digests;
    this.masker = masker;
    this.onAdded?.(added.map(([name]) => name));
  }
}

function createMasker(values: readonly string[]): Masker {
  if (values.length <= MAX_SECRETS) return new Masker(values);
  const message = `a run can read ${MAX_SECRETS} secrets; this one reads ${values.length}: read fewer in its pipelines`;
  throw new WavetrainError('secret_missing', message);
}
