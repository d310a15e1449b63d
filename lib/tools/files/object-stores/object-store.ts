import { ToolError } from '../../../common/errors.js';
import type { ObjectStoreConnection } from '../../connections/connection.js';
import type { FetchedResponse } from '../../tool.js';
import { TRANSFER_LIMITS } from '../transfer-limits.js';
import { formatObjectUrl, type ObjectName } from './object-url.js';
import { type ObjectPage, readAnswerText, readObjectPage } from './store-answers.js';
import { StoreClient, type StoreContext } from './store-request.js';

/** The properties of an object that a store gives without its content. */
export interface ObjectInfo {
  readonly size: number;
  readonly etag: string;
  /** Milliseconds since 1970; null when the store does not say. */
  readonly modifiedMs: number | null;
  readonly contentType: string | null;
}

/** How a new object is written. */
export interface PutOptions {
  readonly contentType: string;
  /** Fails when there is an object already, if the store knows conditional writes. */
  readonly isNew?: boolean | undefined;
}

/** A part of an object that was uploaded. */
export interface UploadedPart {
  readonly number: number;
  readonly etag: string;
}

/** The part of a list that is asked for. */
export interface PageRequest {
  readonly prefix: string;
  /** Lists what is below a folder as that folder. */
  readonly byFolder: boolean;
  /** The `next` of the page before. */
  readonly next?: string | undefined;
}

/** The objects of a store that speaks the protocol of Amazon S3 (D92). Its requests are those of one attempt, and end with it. */
export class ObjectStore {
  readonly #client: StoreClient;

  constructor(connection: ObjectStoreConnection, context: StoreContext) {
    this.#client = new StoreClient(connection, context);
  }

  /** Lists keys in the order of their bytes. */
  async list(bucket: string, { prefix, byFolder, next }: PageRequest): Promise<ObjectPage> {
    const query = {
      'list-type': '2',
      'encoding-type': 'url',
      'max-keys': String(TRANSFER_LIMITS.pageEntries),
      ...(prefix !== '' && { prefix }),
      ...(byFolder && { delimiter: '/' }),
      ...(next !== undefined && { 'continuation-token': next }),
    };
    return await readObjectPage(
      await this.#client.send({ method: 'GET', object: { bucket, key: '' }, query }),
    );
  }

  /** Resolves with undefined when there is no such object. */
  async find(object: ObjectName): Promise<ObjectInfo | undefined> {
    const answer = await this.#client.send({ method: 'HEAD', object, expects: [404] });
    if (answer.status === 404) return undefined;
    const { headers } = answer;
    const modifiedMs = Date.parse(headers['last-modified'] ?? '');
    return {
      size: readSize(headers['content-length'], object),
      etag: headers['etag'] ?? '',
      modifiedMs: Number.isNaN(modifiedMs) ? null : modifiedMs,
      contentType: headers['content-type'] ?? null,
    };
  }

  /** Reads some bytes of an object, which must not have changed since its `etag`. */
  async readPart(object: ObjectName, start: number, length: number, etag: string): Promise<Buffer> {
    const answer = await this.#client.send({
      method: 'GET',
      object,
      headers: { range: `bytes=${start}-${start + length - 1}`, ...(etag !== '' && { 'if-match': etag }) },
      maxBytes: length,
      expects: [412],
    });
    if (answer.status === 412 || (answer.headers['etag'] ?? etag) !== etag) throw changed(object);
    // A store that ignores the range sends all of the object.
    if (answer.bytes.length === length && (answer.status === 206 || start === 0)) return answer.bytes;
    throw new ToolError(
      `the object store sent ${answer.bytes.length} bytes of ${formatObjectUrl(object)} in place of ${length}`,
    );
  }

  /** Writes an object in one request. Resolves with its etag. */
  async put(
    object: ObjectName,
    body: Uint8Array<ArrayBuffer>,
    { contentType, isNew }: PutOptions,
  ): Promise<string> {
    const headers = { 'content-type': contentType, ...(isNew === true && { 'if-none-match': '*' }) };
    // A repeated request would find the object that the first one has written, whose answer was lost.
    const isRepeatable = isNew !== true;
    const answer = await this.#client.send({
      method: 'PUT',
      object,
      headers,
      body,
      isRepeatable,
      expects: [412],
    });
    return readEtag(answer, object);
  }

  /** Copies an object within the store. Resolves with its etag. */
  async copy(source: ObjectName, object: ObjectName, isNew: boolean): Promise<string> {
    const from = [source.bucket, ...source.key.split('/')].map(encodeURIComponent).join('/');
    const headers = { 'x-amz-copy-source': from, ...(isNew && { 'if-none-match': '*' }) };
    const request = { method: 'PUT', object, headers, isRepeatable: !isNew, expects: [412] } as const;
    const answer = await this.#client.send(request);
    if (answer.status === 412) throw exists(object);
    return await readAnswerText(answer, 'ETag');
  }

  /** Begins an object that is written in parts. Resolves with the name of the upload. */
  async beginUpload(object: ObjectName, contentType: string): Promise<string> {
    const headers = { 'content-type': contentType };
    const answer = await this.#client.send({ method: 'POST', object, query: { uploads: '' }, headers });
    return await readAnswerText(answer, 'UploadId');
  }

  async uploadPart(
    object: ObjectName,
    uploadId: string,
    number: number,
    body: Uint8Array<ArrayBuffer>,
  ): Promise<UploadedPart> {
    const query = { partNumber: String(number), uploadId };
    const answer = await this.#client.send({ method: 'PUT', object, query, body });
    return { number, etag: readEtag(answer, object) };
  }

  /** Makes the parts one object. Resolves with its etag. */
  async completeUpload(
    object: ObjectName,
    uploadId: string,
    parts: readonly UploadedPart[],
    isNew: boolean,
  ): Promise<string> {
    const listed = parts.map(
      ({ number, etag }) => `<Part><PartNumber>${number}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
    );
    const answer = await this.#client.send({
      method: 'POST',
      object,
      query: { uploadId },
      headers: { 'content-type': 'application/xml', ...(isNew && { 'if-none-match': '*' }) },
      body: Buffer.from(`<CompleteMultipartUpload>${listed.join('')}</CompleteMultipartUpload>`),
      // Repeated after it has succeeded, it fails: there is no such upload any more.
      isRepeatable: false,
      expects: [412],
    });
    if (answer.status === 412) throw exists(object);
    return await readAnswerText(answer, 'ETag');
  }

  /** Drops the parts that were uploaded, also when the attempt is over. */
  async abortUpload(object: ObjectName, uploadId: string): Promise<void> {
    await this.#client.send({ method: 'DELETE', object, query: { uploadId }, outlivesAttempt: true });
  }
}

/** The error of an object that should be new, and is there. */
export function exists(object: ObjectName): ToolError {
  return ToolError.nonRetryable(`${formatObjectUrl(object)} exists, and "if_exists" is "error"`);
}

function changed(object: ObjectName): ToolError {
  return new ToolError(`${formatObjectUrl(object)} was changed while it was read`);
}

function readEtag({ status, headers }: FetchedResponse, object: ObjectName): string {
  if (status === 412) throw exists(object);
  return headers['etag'] ?? '';
}

function readSize(header: string | undefined, object: ObjectName): number {
  const size = Number(header);
  if (header !== undefined && Number.isSafeInteger(size) && size >= 0) return size;
  throw new ToolError(`the object store does not say how long ${formatObjectUrl(object)} is`);
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
