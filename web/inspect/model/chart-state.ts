import type { ChartEdge, ChartNode, Statechart } from '../../../lib/runs/inspection/statechart.js';
import type { TimelineEntry } from './timeline.js';

/** The parts of a chart that are lit at a moment. */
export interface LitChart {
  /** Ids of the active states, and of the states around them. */
  readonly active: ReadonlySet<string>;
  /**
   * The last transition; none when it is not in the drawing. Several when the entry does not say which it was, as in older
   * recordings and in those made of events, and they differ only in their guards.
   */
  readonly edges: readonly ChartEdge[];
}

/** Finds the states and the transition that an entry has led to. */
export function lightChart(chart: Statechart, entry: TimelineEntry | undefined): LitChart {
  if (entry === undefined) return { active: new Set(), edges: [] };
  const to = findStates(chart, entry.state);
  const active = new Set(to.flatMap(({ id }) => [id, ...ancestorsOf(id)]));
  const taken = chart.edges.find(({ id }) => id === entry.transition);
  if (taken !== undefined) return { active, edges: [taken] };
  const from = entry.from === null ? [] : findStates(chart, entry.from);
  return { active, edges: findEdges(chart, entry, from, to) };
}

/** Names the transitions that may have been taken, with guard and actions; undefined when there is none. */
export function describeTransitions(edges: readonly ChartEdge[]): string | undefined {
  const names = edges.map(({ label, event, from }) => {
    return label || (event === '' && from.endsWith('.(initial)') ? 'the first' : 'always');
  });
  return names.length === 0 ? undefined : names.join(', or ');
}

/** A state of parallel regions lists one state for each: `a, b`. */
function findStates({ id, nodes }: Statechart, state: string): ChartNode[] {
  const states = nodes.filter(({ kind }) => kind === 'state' || kind === 'final');
  return state.split(', ').flatMap((name) => {
    return states.find((node) => node.id === `${id}.${name}`) ?? states.find(({ key }) => key === name) ?? [];
  });
}

function findEdges(
  { edges }: Statechart,
  { event }: TimelineEntry,
  from: readonly ChartNode[],
  to: readonly ChartNode[],
): readonly ChartEdge[] {
  const starts = from.flatMap(({ id }) => [id, ...ancestorsOf(id)]);
  const ends = to.flatMap(({ id }) => [id, ...ancestorsOf(id)]);
  const between = edges.filter((edge) => starts.includes(edge.from) && ends.includes(edge.to));
  const named = between.filter((edge) => edge.event === event);
  if (named.length > 0) return named;
  if (from.length === 0 || from[0]?.id === to[0]?.id) return [];
  // A transition without an event follows at once on the one that the event has caused.
  const always = edges.filter((edge) => edge.event === '' && to.some(({ id }) => id === edge.to));
  return always.length > 0 ? always : between;
}

/** `a`, `a.b` for `a.b.c`, the nearest first. */
function ancestorsOf(id: string): string[] {
  const dot = id.lastIndexOf('.');
  if (dot < 0) return [];
  const parent = id.slice(0, dot);
  return [parent, ...ancestorsOf(parent)];
}
