import { ToolError } from '../../common/errors.js';
import { TRANSFER_LIMITS } from './transfer-limits.js';

/**
 * A pattern of paths: `*` stands for any letters of a name, `?` for one, and `**` between slashes for any folders. Matching takes time
 * in proportion to the path and the pattern, multiplied at the most.
 */
export class PathPattern {
  readonly #parts: readonly string[];

  /**
   * @param input that has the pattern, for messages
   * @throws ToolError, not retryable, for a pattern that is too long, or could match nothing
   */
  constructor(pattern: string, input = 'pattern') {
    if (pattern.length > TRANSFER_LIMITS.patternLength)
      throw ToolError.nonRetryable(
        `"${input}": a pattern has more than ${TRANSFER_LIMITS.patternLength} characters`,
      );
    this.#parts = pattern.split('/');
    if (this.#parts.some((part) => part === '' || part === '..' || part === '.'))
      throw ToolError.nonRetryable(
        `"${input}": a pattern must be a path below the folder, such as *.csv or **/*.csv`,
      );
  }

  /** True when it may match what is in folders of the folder. */
  get isDeep(): boolean {
    return this.#parts.length > 1 || this.#parts[0] === '**';
  }

  /** The beginning that all paths have which it matches. */
  get literalStart(): string {
    const whole = this.#parts.join('/');
    const wildcard = whole.search(/[*?]/);
    return wildcard < 0 ? whole : whole.slice(0, wildcard);
  }

  /** True when it stands for one path. */
  get isLiteral(): boolean {
    return this.literalStart === this.#parts.join('/');
  }

  /** The folder that all paths are in which it matches; empty for the folder itself. */
  get literalFolder(): string {
    return this.literalStart.split('/').slice(0, -1).join('/');
  }

  matches(path: string): boolean {
    const names = path.split('/');
    // `reached[i]`: the names so far match the first i parts.
    let reached = this.#skipFolders(new Set([0]));
    for (const name of names) {
      const next = new Set<number>();
      for (const index of reached) {
        const part = this.#parts[index];
        if (part === '**') next.add(index);
        else if (part !== undefined && matchesName(name, part)) next.add(index + 1);
      }
      if (next.size === 0) return false;
      reached = this.#skipFolders(next);
    }
    return reached.has(this.#parts.length);
  }

  /** `**` stands for no folder, too. */
  #skipFolders(reached: Set<number>): Set<number> {
    for (const index of reached) if (this.#parts[index] === '**') reached.add(index + 1);
    return reached;
  }
}

/** Goes back to the last star only, so that no pattern takes exponential time. */
function matchesName(name: string, pattern: string): boolean {
  let [at, next] = [0, 0];
  let star = -1;
  let afterStar = 0;
  while (at < name.length) {
    if (pattern[next] === '*') {
      star = next++;
      afterStar = at;
    } else if (next < pattern.length && (pattern[next] === '?' || pattern[next] === name[at])) {
      at++;
      next++;
    } else if (star >= 0) {
      next = star + 1;
      at = ++afterStar;
    } else return false;
  }
  while (pattern[next] === '*') next++;
  return next === pattern.length;
}
