import { basename } from 'node:path';
import { ToolError } from '../../../common/errors.js';
import { pauseWhenOver } from '../../../common/scheduling/run-in-slices.js';
import { isObjectUrl, parseObjectUrl } from '../../files/object-stores/object-url.js';
import { openStore } from '../../files/object-stores/open-store.js';
import { TRANSFER_LIMITS } from '../../files/transfer-limits.js';
import { defineTool, type ToolContext } from '../../tool.js';
import { exactObject, FLAG_SCHEMA, INTEGER_SCHEMA, TEXT_SCHEMA } from '../../schemas/output.js';
import { PathPattern } from '../../files/path-pattern.js';
import { CONNECTION_INPUT, foldersOf } from './places.js';

/** A file or a folder in a list. */
interface ListedFile {
  readonly name: string;
  /** For other tools. */
  readonly path: string;
  readonly size: number;
  /** Date and time in UTC. */
  readonly modified: string | null;
  readonly is_folder: boolean;
}

/** A file or folder that a list may leave out. */
interface FoundEntry {
  /** Below the folder that is listed. */
  readonly relative: string;
  readonly isFolder: boolean;
  readonly describe: () => Promise<Pick<ListedFile, 'path' | 'size' | 'modified'> | undefined>;
}

/** Letters of the paths in a list: an output may have some MiB. */
const MAX_LIST_LENGTH = 2 * 2 ** 20;

/** Lists the files of a folder or of an object store (D92). */
export const listFiles = defineTool({
  name: 'list_files',
  description: 'Lists the files in a folder or in an object store, by a pattern of their names',
  inputs: {
    path: {
      type: 'string',
      required: true,
      description:
        'a folder in one of the allowed folders, "." for the first of them; or s3://bucket or s3://bucket/folder',
    },
    pattern: {
      type: 'string',
      default: '*',
      description: 'which names: * stands for any letters, ? for one, ** for any folders, as in **/*.csv',
    },
    include: {
      type: 'string',
      enum: ['files', 'folders', 'all'],
      default: 'files',
      description: 'what is listed',
    },
    max_entries: {
      type: 'integer',
      minimum: 1,
      maximum: TRANSFER_LIMITS.entries,
      default: 1000,
      description: 'the most entries; when there are more, "truncated" is true',
    },
    connection: CONNECTION_INPUT,
  },
  output: {
    name: 'list',
    description:
      'files: name, path (for other tools), size, modified and is_folder of each, in the order of paths; count; truncated: true when there ' +
      'are more, or more than 100,000 would have to be looked at',
    type: 'object',
    schema: exactObject({
      files: {
        type: 'array',
        items: exactObject({
          name: TEXT_SCHEMA,
          path: TEXT_SCHEMA,
          size: INTEGER_SCHEMA,
          modified: { type: ['string', 'null'] },
          is_folder: FLAG_SCHEMA,
        }),
      },
      count: INTEGER_SCHEMA,
      truncated: FLAG_SCHEMA,
    }),
  },
  async run({ path, pattern: written, include, max_entries: most, connection }, context) {
    const pattern = new PathPattern(written);
    const found = isObjectUrl(path)
      ? findObjects(path, pattern, connection ?? undefined, context)
      : findFiles(path, pattern, context);
    const files: ListedFile[] = [];
    let [scanned, length] = [0, 0];
    for await (const { relative, isFolder, describe } of found) {
      if (++scanned > TRANSFER_LIMITS.scannedEntries) return toList(files, true);
      await pauseWhenOver(context);
      if (include !== 'all' && isFolder !== (include === 'folders')) continue;
      if (!pattern.matches(relative)) continue;
      if (files.length === most || length > MAX_LIST_LENGTH) return toList(files, true);
      const described = await describe();
      if (described === undefined) continue;
      length += described.path.length + relative.length;
      files.push({ name: basename(relative), ...described, is_folder: isFolder });
    }
    return toList(files, false);
  },
});

function toList(files: readonly ListedFile[], truncated: boolean) {
  return { files, count: files.length, truncated };
}

async function* findFiles(
  path: string,
  pattern: PathPattern,
  context: ToolContext,
): AsyncGenerator<FoundEntry, undefined> {
  const folder = path.replace(/\/+$/, '') || path;
  for await (const entry of await foldersOf(context).list(path, pattern.isDeep)) {
    yield {
      relative: entry.path,
      isFolder: entry.isFolder,
      describe: async () => {
        const measured = await entry.measure();
        if (measured === undefined) return undefined;
        const { size, modifiedMs } = measured;
        const listed = folder === '.' ? entry.path : `${folder}/${entry.path}`;
        return { path: listed, size, modified: new Date(modifiedMs).toISOString() };
      },
    };
  }
  return undefined;
}

async function* findObjects(
  url: string,
  pattern: PathPattern,
  connection: string | undefined,
  context: ToolContext,
): AsyncGenerator<FoundEntry, undefined> {
  const { bucket, key } = parseObjectUrl(url);
  const folder = key === '' || key.endsWith('/') ? key : `${key}/`;
  const store = openStore(bucket, connection, context);
  context.holdMemory(TRANSFER_LIMITS.answerBytes);
  const prefix = folder + pattern.literalStart;
  let next: string | undefined;
  for (let pages = 0; pages < TRANSFER_LIMITS.pages; pages++) {
    const page = await store.list(bucket, { prefix, byFolder: !pattern.isDeep, next });
    const describe = (found: string, size: number, modified: string | null) => () =>
      Promise.resolve({ path: `s3://${bucket}/${found}`, size, modified });
    for (const found of page.folders) {
      const name = found.replace(/\/$/, '');
      yield { relative: name.slice(folder.length), isFolder: true, describe: describe(name, 0, null) };
    }
    for (const { key: found, size, modified } of page.objects) {
      const isFolder = found.endsWith('/');
      // A store has an empty object for a folder that somebody has created; the folder itself is not in it.
      if (found === folder) continue;
      const name = isFolder ? found.slice(0, -1) : found;
      yield {
        relative: name.slice(folder.length),
        isFolder,
        describe: describe(name, size, modified || null),
      };
    }
    ({ next } = page);
    if (next === undefined) return undefined;
  }
  throw ToolError.nonRetryable(`the object store does not end its list of "${url}"`);
}
