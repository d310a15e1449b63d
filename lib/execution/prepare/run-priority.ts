/** The priority of the queued runs of a definition among those of their tenant (D81). */
export function readPriority({ priority }: { readonly priority?: unknown }): number {
  return typeof priority === 'number' ? priority : 0;
}
