import type { Json } from '../../common/json.js';

export const DOCUMENT_FORMATS = ['text', 'markdown', 'csv', 'json'] as const;
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

/** A part of a Markdown text: a heading and what stands below it, up to the next heading of any level. */
export interface Section {
  /** 1 to 6; 0 for what stands before the first heading. */
  readonly level: number;
  readonly heading: string;
  readonly text: string;
}

/** What is read out of a document, besides its text. */
export interface DocumentContent {
  /** The title that the document gives itself. */
  readonly title?: string;
  /** CSV: one object per line, keyed by the header. */
  readonly rows?: readonly Record<string, string | number>[];
  /** CSV: the header. */
  readonly columns?: readonly string[];
  /** JSON: the value. */
  readonly data?: Json;
  /** Markdown. */
  readonly sections?: readonly Section[];
}
