import type { Tool } from '../tool.js';
import { fail, mock, sleep, store } from './basic.js';
import { ingestDocument } from './ingest-document.js';
import { runPipeline } from './run-pipeline.js';
import { transform } from './transform.js';

export const BUILTIN_TOOLS: readonly Tool[] = [
  fail,
  ingestDocument,
  mock,
  runPipeline,
  sleep,
  store,
  transform,
];
