import type { ToolContext } from '../../tool.js';
import { defineTool } from '../../tool.js';
import { openStore } from '../../files/object-stores/open-store.js';
import { exists } from '../../files/object-stores/object-store.js';
import { TRANSFER_LIMITS } from '../../files/transfer-limits.js';
import {
  CONNECTION_INPUT,
  guessMediaType,
  parsePlace,
  type FilePlace,
  SOURCE_DESCRIPTION,
} from './places.js';
import {
  IF_EXISTS,
  nameOfPlace,
  openSource,
  skippedTransfer,
  type TransferResult,
  type TransferTarget,
  writeTarget,
  TRANSFER_SCHEMA,
} from './transfer.js';

/** Copies a file between folders, object stores and the files of the run, piece by piece (D92). */
export const copyFile = defineTool({
  name: 'copy_file',
  description: 'Copies a file of any size between folders, object stores and the files of the run',
  inputs: {
    from: { required: true, description: SOURCE_DESCRIPTION },
    to: {
      required: true,
      description:
        'a path in a folder in which tools may write; an object, such as s3://bucket/key; or {artifact: NAME}, which makes it a file of the run',
    },
    if_exists: {
      type: 'string',
      enum: IF_EXISTS,
      default: 'replace',
      description: 'what happens to a file that is there; those of the run get a number instead',
    },
    content_type: {
      type: 'string',
      default: null,
      description: 'the media type of the copy; default: that of the source, or by the ending of its name',
    },
    connection: { ...CONNECTION_INPUT, description: `of "from" and "to": ${CONNECTION_INPUT.description}` },
    to_connection: { ...CONNECTION_INPUT, description: 'of "to", when it is another one' },
  },
  output: {
    name: 'file',
    description:
      'status (written or skipped), path, size, sha256 (null of a copy that its store has made), etag (of an object)',
    type: 'object',
    schema: TRANSFER_SCHEMA,
  },
  async run({ from, to, if_exists: ifExists, content_type: contentType, ...inputs }, context) {
    const [source, place] = [parsePlace(from, 'from'), parsePlace(to, 'to')];
    const connection = inputs.connection ?? undefined;
    const target = { place, connection: inputs.to_connection ?? connection, ifExists };
    if (contentType === null) {
      const copied = await copyWithinStore(source, connection, target, context);
      if (copied !== undefined) return copied;
    }
    const opened = await openSource(source, connection, context);
    const mediaType = contentType ?? opened.mediaType ?? guessMediaType(nameOfPlace(place));
    return await writeTarget(opened, { ...target, mediaType }, context);
  },
});

/** Has a store copy an object, if it can: both are in one store, and the object is not so large that the store would take long. */
async function copyWithinStore(
  source: FilePlace,
  connection: string | undefined,
  { place, connection: toConnection, ifExists }: Omit<TransferTarget, 'mediaType'>,
  context: ToolContext,
): Promise<TransferResult | undefined> {
  if (source.kind !== 'object' || place.kind !== 'object') return undefined;
  const { connections } = context;
  const from = connections.ofBucket(source.object.bucket, connection);
  const to = connections.ofBucket(place.object.bucket, toConnection);
  if (from.endpoint !== to.endpoint || from.accessKeyId !== to.accessKeyId) return undefined;
  const store = openStore(place.object.bucket, toConnection, context);
  const found = await store.find(source.object);
  if (found === undefined || found.size > TRANSFER_LIMITS.serverCopyBytes) return undefined;
  const isNew = ifExists !== 'replace';
  if (isNew && (await store.find(place.object)) !== undefined) {
    if (ifExists === 'error') throw exists(place.object);
    return skippedTransfer(place.url);
  }
  const etag = await store.copy(source.object, place.object, isNew);
  return { status: 'written', path: place.url, size: found.size, sha256: null, etag };
}
