import { ToolError } from '../../../common/errors.js';
import { ellipsize } from '../../../common/text.js';
import type { FetchedResponse } from '../../tool.js';
import type * as HtmlParser from 'htmlparser2';

/** An object of a list. */
export interface ListedObject {
  readonly key: string;
  readonly size: number;
  /** As the store writes it: `2026-01-31T12:00:00.000Z`. */
  readonly modified: string;
}

/** A part of the list of a bucket. */
export interface ObjectPage {
  readonly objects: readonly ListedObject[];
  /** The beginnings of keys up to the next slash, when folders were asked for. */
  readonly folders: readonly string[];
  /** Names the next part; undefined after the last one. */
  readonly next: string | undefined;
}

/** An element of XML, with the text in it and the elements in it. */
interface Element {
  readonly name: string;
  text: string;
  readonly parts: Element[];
}

/** Deeper elements belong to no answer of a store. */
const MAX_DEPTH = 10;
const MAX_MESSAGE = 200;

/** Reads the list of objects of a bucket. @throws ToolError when it is none */
export async function readObjectPage({ bytes }: FetchedResponse): Promise<ObjectPage> {
  const root = await parseXml(bytes.toString());
  if (root.name !== 'ListBucketResult') throw notUnderstood();
  const decode = textOf(root, 'EncodingType') === 'url' ? decodeKey : (key: string): string => key;
  const objects = findAll(root, 'Contents').map((entry) => ({
    key: decode(textOf(entry, 'Key')),
    size: Number(textOf(entry, 'Size')) || 0,
    modified: textOf(entry, 'LastModified'),
  }));
  const folders = findAll(root, 'CommonPrefixes').map((entry) => decode(textOf(entry, 'Prefix')));
  const token = textOf(root, 'NextContinuationToken');
  return {
    objects,
    folders,
    next: textOf(root, 'IsTruncated') === 'true' && token !== '' ? token : undefined,
  };
}

/** Reads the text of one element of an answer. @throws ToolError when it is missing, or when the answer is an error */
export async function readAnswerText({ bytes }: FetchedResponse, name: string): Promise<string> {
  const root = await parseXml(bytes.toString());
  // A store that works for long answers with success at once, and says at the end that it has failed.
  if (root.name === 'Error')
    throw new ToolError(
      `the object store has failed: ${ellipsize(textOf(root, 'Code') || 'unknown', MAX_MESSAGE)}`,
    );
  const text = textOf(root, name);
  if (text === '') throw notUnderstood();
  return text;
}

/** Reads the code and the message of an error; empty when there are none, as after HEAD. */
export function readStoreError({ bytes }: FetchedResponse): {
  readonly code: string;
  readonly message: string;
} {
  const text = bytes.toString('utf8', 0, 16 * 1024);
  const find = (name: string): string => new RegExp(`<${name}>([^<]{1,500})</${name}>`).exec(text)?.[1] ?? '';
  return { code: find('Code').slice(0, 60), message: ellipsize(find('Message'), MAX_MESSAGE) };
}

async function parseXml(xml: string): Promise<Element> {
  const { Parser }: typeof HtmlParser = await import('htmlparser2');
  const top: Element = { name: '', text: '', parts: [] };
  const open: Element[] = [top];
  const parser = new Parser(
    {
      onopentagname(name) {
        const element: Element = { name, text: '', parts: [] };
        if (open.length > MAX_DEPTH) throw notUnderstood();
        open.at(-1)?.parts.push(element);
        open.push(element);
      },
      ontext(text) {
        const element = open.at(-1);
        if (element !== undefined) element.text += text;
      },
      onclosetag() {
        open.pop();
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
  const [root] = top.parts;
  if (root === undefined) throw notUnderstood();
  return root;
}

function findAll({ parts }: Element, name: string): Element[] {
  return parts.filter((part) => part.name === name);
}

function textOf(element: Element, name: string): string {
  return element.parts.find((part) => part.name === name)?.text ?? '';
}

function decodeKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    return encoded;
  }
}

function notUnderstood(): ToolError {
  return ToolError.nonRetryable(
    'the answer of the object store is none that this protocol has: check the endpoint of the connection',
  );
}
