/**
 * The drawing of a machine or of a hand-written logic, laid out when the package is built: nobody needs a layout engine to
 * show where an actor is. Lengths are in pixels, from the top left corner of the drawing.
 */
export interface Statechart {
  /** The `src` of the actors that it shows: `run`, `wave`, `fan-out` … */
  readonly id: string;
  readonly title: string;
  readonly width: number;
  readonly height: number;
  /** The root comes first: each state follows the one that contains it. */
  readonly nodes: readonly ChartNode[];
  readonly edges: readonly ChartEdge[];
}

export interface ChartNode {
  /** The path of the state, such as `run.paused`; the root's is the id of the chart. */
  readonly id: string;
  /** The state as snapshots name it: `paused`. */
  readonly key: string;
  /** `initial`: the dot from which the first transitions start. */
  readonly kind: 'root' | 'state' | 'final' | 'initial';
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Actors that the state invokes, and actions on entry and exit. */
  readonly lines: readonly string[];
}

/** One transition. Transitions between the same two states share a line, and each has a label of its own. */
export interface ChartEdge {
  readonly id: string;
  /** Ids of nodes. */
  readonly from: string;
  readonly to: string;
  /** The type of its event: empty when no event is needed; one that ends in `*` stands for all that begin like it. */
  readonly event: string;
  /** `wave.settled [isLastWave] / storeWaveOutcome`; empty for a first transition without a condition. */
  readonly label: string;
  /** Empty for a transition that stays in its state: its label is a line in the state. */
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Null without a label. */
  readonly labelBox: ChartBox | null;
}

interface ChartBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}
