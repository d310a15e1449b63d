import type { ReadablePaths } from '../../../../lib/pipelines/shapes/readable-paths.js';

export type { ReadablePaths };

type Paths = ReadablePaths['paths'];

/** A value that a template can read. */
export interface ReadableValue {
  /** As in `list of text`; `any` when nobody knows. */
  readonly type: string;
  readonly description?: string | undefined;
}

interface ReadableField extends ReadableValue {
  readonly name: string;
}

/** The task in which a template stands, and the paths that it can read, as the server has found them. */
export class PathScope {
  readonly #maps: readonly Paths[];
  readonly #ownOutput: string;

  /** @param task of the template; undefined outside of tasks */
  constructor(
    { paths, items }: Pick<ReadablePaths, 'paths' | 'items'>,
    task: { readonly id: string; readonly isFanOut: boolean } | undefined,
  ) {
    const ofItem = task !== undefined && Object.hasOwn(items, task.id) ? items[task.id] : undefined;
    this.#maps = ofItem === undefined ? [paths] : [ofItem, paths];
    this.#ownOutput = task === undefined ? '' : `${task.id}.output${task.isFanOut ? '[]' : ''}`;
  }

  /** Returns what a path leads to, such as `fetch.output.rows[0].id`; undefined when nobody knows. */
  find(path: string): ReadableValue | undefined {
    const { paths, found } = this.#resolve(path);
    return found === undefined ? undefined : paths[found];
  }

  /** Lists the fields of the value that a path leads to; of a list, the names that templates have for its elements. */
  fieldsOf(path: string): readonly ReadableField[] {
    const { paths, found } = this.#resolve(path);
    if (found === undefined) return [];
    const fields = Object.entries(paths).flatMap(([each, value]) => {
      const name = each.startsWith(`${found}.`) ? each.slice(found.length + 1) : '';
      return name === '' || /[.[]/.test(name) ? [] : { ...value, name };
    });
    const isList = paths[found]?.type.startsWith('list') === true;
    return isList ? [...fields, ...membersOfList(paths[`${found}[]`])] : fields;
  }

  /** Finds the path under which the server lists a value: with `[]` for each index. */
  #resolve(path: string): { readonly paths: Paths; readonly found: string | undefined } {
    const written = path.replace(/^this\.output(?=$|[.[])/, this.#ownOutput);
    const [root = '', ...segments] = written.match(/\[[^\]]*\]|[^.[\]]+/g) ?? [];
    for (const paths of this.#maps) {
      let found = root;
      let isKnown = true;
      for (const segment of segments) {
        const field = `${found}.${segment}`;
        const isIndex = segment.startsWith('[') || /^(?:\d+|first|last)$/.test(segment);
        // Namespaces and tasks are no values themselves.
        found = isIndex && !Object.hasOwn(paths, field) ? `${found}[]` : field;
        isKnown = Object.hasOwn(paths, found);
      }
      if (segments.length === 0 ? Object.hasOwn(paths, found) : isKnown) return { paths, found };
    }
    return { paths: {}, found: undefined };
  }
}

function membersOfList(element: ReadableValue | undefined): ReadableField[] {
  const { type = 'any', description } = element ?? {};
  return [
    { name: 'first', type, description },
    { name: 'last', type, description },
    { name: 'length', type: 'integer', description: 'The number of its elements.' },
  ];
}

/** Returns the paths of a pipeline within a plan, or else those of the definition itself. */
export function pathsOf(
  all: readonly ReadablePaths[],
  subPipeline: string | undefined,
): Pick<ReadablePaths, 'paths' | 'items'> {
  return all.find(({ sub_pipeline: id }) => id === (subPipeline ?? null)) ?? { paths: {}, items: {} };
}

/** A letter, a digit or a sign of a path within a template. */
export const PATH_SIGNS = String.raw`\p{L}\p{M}\p{N}_$.[\]-`;

/** Returns the part of a written path up to the name that is being written: `fetch.output.` of `fetch.output.st`. */
export function startOfPath(written: string): string {
  return written.slice(0, written.lastIndexOf('.') + 1);
}
