import type { NamedPipeline } from '../../../../lib/library/named-pipeline.js';

/** The definition that the page was opened for, from its address. */
export interface Opened {
  /** The id of a file of the server; empty for none. */
  readonly pipeline: string;
  /** The tenant of that file; empty for the one of the reader's key. */
  readonly tenant: string;
  /** The id of a run whose definition is changed; empty for none. */
  readonly run: string;
  /** The task or sub-pipeline at which the text is opened; empty for its start. */
  readonly task: string;
}

/** Where a file of the folder is edited. */
export function editAddressOf({ id, tenant_id }: Pick<NamedPipeline, 'id' | 'tenant_id'>): string {
  const query = { pipeline: id, ...(tenant_id !== 'default' && { tenant: tenant_id }) };
  return `/edit?${new URLSearchParams(query)}`;
}

/** Names the draft of what was opened. */
export function draftIdOf({ run, pipeline, tenant }: Opened): string {
  if (run !== '') return `run:${run}`;
  return pipeline === '' ? 'new' : `pipeline:${tenant}/${pipeline}`;
}
