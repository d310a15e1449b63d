import { extname } from 'node:path';
import { ToolError } from '../../../common/errors.js';
import { describeKind, isObject, type Json } from '../../../common/json/json.js';
import type { FolderAccess } from '../../files/access.js';
import { isObjectUrl, type ObjectName, parseObjectName } from '../../files/object-stores/object-url.js';
import { TRANSFER_LIMITS } from '../../files/transfer-limits.js';
import type { ToolContext } from '../../tool.js';

/** Where a file is, or will be. */
export type FilePlace =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'object'; readonly url: string; readonly object: ObjectName }
  | { readonly kind: 'artifact'; readonly name: string };

/** The description of inputs that name a file to read. */
export const SOURCE_DESCRIPTION =
  'a path in one of the allowed folders; an object, such as s3://bucket/key; or a file of the run: what a tool has given that wrote it, ' +
  'or {artifact: NAME}';

/** The input that names the connection of a bucket. */
export const CONNECTION_INPUT = {
  type: 'string',
  default: null,
  description:
    'the connection that has the bucket; default: the one that lists it, or the only one of an object store',
} as const;

/** Reads an input that names a file. @throws ToolError, not retryable */
export function parsePlace(value: Json, input: string): FilePlace {
  if (isObject(value)) {
    const name = value['artifact'] ?? value['name'];
    if (typeof name === 'string' && name !== '') return { kind: 'artifact', name };
    throw ToolError.nonRetryable(
      `"${input}" is an object without a name: write {artifact: NAME} for a file of the run`,
    );
  }
  if (typeof value !== 'string' || value === '')
    throw ToolError.nonRetryable(`"${input}" is ${describeKind(value)}: give a path, or s3://bucket/key`);
  if (value.length > TRANSFER_LIMITS.pathLength)
    throw ToolError.nonRetryable(`"${input}" has more than ${TRANSFER_LIMITS.pathLength} characters`);
  if (isObjectUrl(value)) return { kind: 'object', url: value, object: parseObjectName(value) };
  return { kind: 'file', path: value };
}

/** The folders that tools may list and write. @throws ToolError, not retryable, when the host has none */
export function foldersOf({ files: { folders } }: Pick<ToolContext, 'files'>): FolderAccess {
  if (folders !== undefined) return folders;
  throw ToolError.nonRetryable('files can be read here only as a whole: the host offers no folders');
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.gif': 'image/gif',
  '.gz': 'application/gzip',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.zip': 'application/zip',
};

/** The media type of a file by the ending of its name. */
export function guessMediaType(name: string): string {
  const ending = extname(name).toLowerCase();
  return (Object.hasOwn(MEDIA_TYPES, ending) ? MEDIA_TYPES[ending] : undefined) ?? 'application/octet-stream';
}
