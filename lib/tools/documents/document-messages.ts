import { Buffer } from 'node:buffer';
import type { Steps } from '../../common/scheduling/steps.js';
import { cutIntoPieces } from '../../common/workers/message-socket.js';
import type { DocumentContent } from './document.js';

/**
 * Makes of a content what a process can send: the pieces of its JSON, with the rasters of its pages in base64, and the
 * number of its characters that are not rasters.
 */
export function packContent(content: DocumentContent): {
  readonly json: readonly string[];
  readonly textLength: number;
} {
  let imageLength = 0;
  const pages = content.pages?.map((page) => {
    if (page.image_bytes === null) return page;
    const packed = Buffer.from(page.image_bytes).toString('base64');
    imageLength += packed.length;
    return { ...page, image_bytes: packed };
  });
  const text = JSON.stringify(pages === undefined ? content : { ...content, pages });
  return { json: cutIntoPieces(text), textLength: text.length - imageLength };
}

/** Unpacks the rasters of a content that {@link packContent} has made, after its JSON was parsed: one in each step. */
export function* unpackImages(value: unknown): Steps<DocumentContent> {
  const content = value as DocumentContent;
  if (content.pages === undefined) return content;
  const pages = [];
  for (const page of content.pages) {
    const packed: unknown = page.image_bytes;
    if (typeof packed !== 'string') {
      pages.push(page);
      continue;
    }
    pages.push({ ...page, image_bytes: Buffer.from(packed, 'base64') });
    yield;
  }
  return { ...content, pages };
}
