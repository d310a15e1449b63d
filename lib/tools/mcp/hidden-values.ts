import { errorMessage, ToolError } from '../../common/errors.js';
import { isObject, type Json, setOwn } from '../../common/json/json.js';
import { MIN_KEY_LENGTH } from '../../common/limits.js';
import { findSecretProblem } from '../../definition/secrets/encodings.js';
import { Masker } from '../../definition/secrets/masker.js';

/** A value of such a name is secret also when it is shorter. */
const SECRET_NAME = /key|token|secret|passw|credential|auth|cookie|signature|\bpat\b/i;

/** Places and users are no secrets: masked, they would make the paths in the answers of a server useless. */
const PLACE_NAME =
  /^(?:HOME|USER|LOGNAME|PWD|TMPDIR|SHELL|LANG|SYSTEMROOT)$|(?:^|_)(?:PATH|DIR|FOLDER|ROOT)$/i;

/** Returns true if the value of a variable, or of a header, is hidden wherever it would be seen (D61). */
export function isHidden(name: string, value: string): boolean {
  if (findSecretProblem(value) !== undefined) return false;
  if (SECRET_NAME.test(name)) return true;
  return value.length >= MIN_KEY_LENGTH && !PLACE_NAME.test(name);
}

/** Hides the keys of the operator in what an MCP server answers and says: it may print its own configuration (D61). */
export class HiddenValues {
  /** Of the keys. */
  readonly #masker: Masker | undefined;
  /** Of all that is configured for the server. */
  readonly #messageMasker: Masker | undefined;

  /** @param env variables, or headers, of which some are keys by their names */
  constructor(hidden: readonly string[], env: Readonly<Record<string, string>>) {
    const given = Object.entries(env);
    const keys = [
      ...hidden,
      ...given.flatMap(([name, value]) => (SECRET_NAME.test(name) ? bare(value) : [])),
    ];
    this.#masker = createMasker(keys);
    const others = given.flatMap(([name, value]) => (isHidden(name, value) ? bare(value) : []));
    this.#messageMasker = createMasker([...keys, ...others]);
  }

  /** Of an error, a log or a progress message: also without what is configured and called otherwise than a key. */
  readonly maskMessage = (text: string): string => this.#messageMasker?.mask(text) ?? text;

  /**
   * Returns the value itself when no key is in it.
   *
   * @throws ToolError, not retryable, for a value that is nested too deep
   */
  maskData<T>(value: T): T {
    const masker = this.#masker;
    if (masker === undefined) return value;
    try {
      const text = JSON.stringify(value);
      return masker.mask(text) === text ? value : (maskJson(value as Json, masker) as T);
    } catch (error) {
      throw ToolError.nonRetryable(`the answer is nested too deep: ${errorMessage(error)}`);
    }
  }
}

/** A value as it is, and without the word before it: `Bearer …`. */
function bare(value: string): string[] {
  return [value, value.replace(/^\w+ /, '')];
}

function createMasker(values: readonly string[]): Masker | undefined {
  const secrets = values.filter((value) => findSecretProblem(value) === undefined);
  return secrets.length === 0 ? undefined : new Masker(secrets);
}

function maskJson(value: Json, masker: Masker): Json {
  if (typeof value === 'string') return masker.mask(value);
  if (typeof value === 'number') return masker.maskNumber(value);
  if (Array.isArray(value)) return value.map((member) => maskJson(member, masker));
  if (!isObject(value)) return value;
  const masked: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value))
    setOwn(masked, masker.mask(key), maskJson(member, masker));
  return masked;
}
