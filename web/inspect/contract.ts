/** What the server sends: the drawings of the machines, and what XState's inspection has shown of a run. */

/** A JSON value. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonRecord;

/** A JSON object. */
export interface JsonRecord {
  readonly [key: string]: JsonValue;
}

/** The drawing of a machine. Lengths are in CSS pixels, from its upper left corner. */
export interface Statechart {
  /** The `src` of its actors, such as `run` or `fan-out`. */
  readonly id: string;
  readonly title: string;
  readonly width: number;
  readonly height: number;
  /** A state stands before those inside it. */
  readonly nodes: readonly ChartNode[];
  readonly edges: readonly ChartEdge[];
}

export interface ChartNode {
  /** As in `run.paused`; the root is `run`. */
  readonly id: string;
  readonly key: string;
  readonly kind: 'root' | 'state' | 'final' | 'initial';
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Entry actions and invoked actors. */
  readonly lines: readonly string[];
}

export interface ChartEdge {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** Type of the event; empty for a transition that needs none. */
  readonly event: string;
  /** As in `wave.settled [isLastWave] / storeWaveOutcome`. */
  readonly label: string;
  readonly points: readonly (readonly [number, number])[];
  readonly labelBox: {
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
  } | null;
}

/** One event that an actor has received, and its state after it. */
export interface InspectionEntry {
  /** From 1, in order. */
  readonly seq: number;
  /** ISO 8601. */
  readonly time: string;
  /** The path of the actor, as in `run/wave/each/fan-out/3`. */
  readonly actor: string;
  /** The statechart of the actor. */
  readonly src: string;
  /** Type of the event; `@created` and `@attached` for the first of an actor. */
  readonly event: string;
  readonly data: JsonValue;
  /** The path of the sender; null for one outside of the run. */
  readonly source: string | null;
  /** The state before; null for an actor that was created. */
  readonly from: string | null;
  readonly state: string;
  readonly status: ActorStatus;
  readonly snapshot: JsonValue;
}

export type ActorStatus = 'active' | 'done' | 'error' | 'stopped';

/** Whether XState's inspection has recorded the entries, or they were rebuilt from the events of the run. */
export type Origin = 'live' | 'events';
