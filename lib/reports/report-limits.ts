/** The limits of an HTML report of a run. */
export const REPORT_LIMITS = {
  /** Tasks, and items of fan-outs, that a report has, the failed items first. */
  tasks: 500,
  items: 100,
  /** Items of one fan-out that did not fail. */
  otherItems: 10,
  /** Failures with their values: those of items that failed alike are one. */
  failures: 20,
  /** The last events. */
  events: 2000,
  /** Files, and keys of the blackboard. */
  artifacts: 1000,
  blackboardKeys: 200,
  /** Graphs of sub-pipelines, the bars of the timeline, and the attempts of one task or item. */
  graphs: 20,
  timelineRows: 300,
  attempts: 50,
  /** Characters of all values together: those of further tasks are left out. */
  valuesLength: 4 * 2 ** 20,
  /** Characters of one value, and of a message in a list. */
  valueLength: 64 * 1024,
  messageLength: 400,
} as const;
