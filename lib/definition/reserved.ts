/** Task ids that would hide a template namespace (D1). */
export const RESERVED_TASK_IDS: readonly string[] = ['pipeline', 'params', 'session', 'item'];
