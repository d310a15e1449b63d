import type { Steps } from '../../common/scheduling/steps.js';

/** Waves of boxes, and the edges between them: a pipeline or a plan. */
export interface WaveGraph {
  readonly waves: readonly (readonly { readonly id: string }[])[];
  /** Edges that name no box are left out. */
  readonly edges: readonly { readonly from: string; readonly to: string }[];
}

/** Sizes in px. */
export interface LayoutOptions {
  readonly boxWidth: number;
  readonly boxHeight: number;
  /** The space between two columns, in which the edges bend. */
  readonly columnGap: number;
  readonly rowGap: number;
  /** The space above the first box of each wave, for the name of the wave. */
  readonly headerHeight: number;
  /** The space around everything. */
  readonly margin: number;
  /** A wave with more boxes gets several columns. Default: from the size of the largest wave. */
  readonly maxRows?: number | undefined;
  /** Further waves continue below. Default: from the number of boxes, so that the drawing is a little wider than high. */
  readonly maxColumns?: number | undefined;
}

export interface PlacedBox {
  readonly id: string;
  /** Index of the box's wave, from 0. */
  readonly wave: number;
  /** The place of the box in that wave, as the graph lists it. */
  readonly index: number;
  readonly x: number;
  readonly y: number;
}

interface PlacedEdge {
  /** The place of the edge in the list of the graph. */
  readonly index: number;
  /** The data of an SVG path. */
  readonly path: string;
  /** Where a label of the edge belongs. */
  readonly labelX: number;
  readonly labelY: number;
}

/** The columns of one wave, from the top of its header to its last box. */
interface PlacedWave {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface WaveLayout {
  readonly width: number;
  readonly height: number;
  readonly waves: readonly PlacedWave[];
  readonly boxes: readonly PlacedBox[];
  readonly edges: readonly PlacedEdge[];
}

/** How often the boxes are sorted by those before or after them: further sweeps change little. */
const SWEEPS = 4;

/** A drawing is about so many times as wide as it is high, when it has many boxes. */
const ASPECT = 1.6;

/** Fewer rows and columns than these are not broken. */
const FEW_ROWS = 12;
const FEW_COLUMNS = 8;

/** Edges over several columns pass between the boxes of so many columns, all together; the others go straight. */
const MAX_PASSED_COLUMNS = 50_000;

/** Edges of different boxes that share a gap are drawn beside each other. */
const LANES: readonly number[] = [0, 3, -3, 6, -6];

const CORNER_RADIUS = 8;
const EDGE_SPACE = 12;
const PER_STEP = 500;

/**
 * Places the boxes of a graph, wave by wave from left to right, in steps. Takes time in proportion to the number of boxes
 * and edges. In a wave, boxes stand beside those that they are connected with (their barycentre), otherwise in the order
 * of the graph. The same graph always gives the same layout.
 */
export function* layoutWaves(graph: WaveGraph, options: LayoutOptions): Steps<WaveLayout> {
  const layout = new Layout(graph, options);
  yield* layout.sort();
  layout.placeWaves();
  yield;
  const boxes = layout.placeBoxes();
  yield;
  const edges = yield* layout.routeEdges();
  const { width, height, waves } = layout;
  return { width, height, waves, boxes, edges };
}

/** A box on the grid of columns and rows. */
interface Cell {
  readonly id: string;
  readonly wave: number;
  readonly index: number;
  readonly before: Cell[];
  readonly after: Cell[];
  /** The place in the wave, in rows from the middle; decides the order. */
  position: number;
  /** The column in the wave. */
  column: number;
  row: number;
  x: number;
  /** The height of the box's middle. */
  y: number;
}

/** A wave on the grid. */
interface Group {
  readonly cells: Cell[];
  readonly columns: number;
  readonly rows: number;
}

type Route = Omit<PlacedEdge, 'index'>;

interface Column {
  /** Top of the column's first box. */
  readonly top: number;
  readonly count: number;
}

/** Waves side by side. */
interface Band {
  readonly y: number;
  readonly columns: readonly Column[];
}

class Layout {
  readonly #options: LayoutOptions;
  readonly #cells = new Map<string, Cell>();
  readonly #groups: readonly Group[];
  readonly #edges: { readonly index: number; readonly from: Cell; readonly to: Cell }[] = [];
  readonly #pitchX: number;
  readonly #pitchY: number;
  readonly #bands: Band[] = [];
  /** The band that each wave is in, and the column of that band in which the wave begins. */
  readonly #places: { readonly band: number; readonly column: number }[] = [];
  readonly waves: PlacedWave[] = [];
  width = 0;
  height = 0;
  #passesLeft = MAX_PASSED_COLUMNS;

  constructor({ waves, edges }: WaveGraph, options: LayoutOptions) {
    this.#options = options;
    this.#pitchX = options.boxWidth + options.columnGap;
    this.#pitchY = options.boxHeight + options.rowGap;
    const largest = waves.reduce((most, wave) => Math.max(most, wave.length), 0);
    const square = Math.ceil(Math.sqrt((largest * this.#pitchX) / this.#pitchY / ASPECT));
    const maxRows = options.maxRows ?? Math.max(FEW_ROWS, square);
    this.#groups = waves.map((wave, number) => {
      const columns = Math.max(1, Math.ceil(wave.length / Math.max(1, maxRows)));
      const cells = wave.map(({ id }, index) => this.#addCell(id, number, index));
      return { cells, columns, rows: Math.ceil(wave.length / columns) };
    });
    for (const [index, edge] of edges.entries()) {
      const from = this.#cells.get(edge.from);
      const to = this.#cells.get(edge.to);
      if (from === undefined || to === undefined || from === to) continue;
      this.#edges.push({ index, from, to });
      from.after.push(to);
      to.before.push(from);
    }
    for (const group of this.#groups) setPositions(group);
  }

  #addCell(id: string, wave: number, index: number): Cell {
    const cell = { id, wave, index, before: [], after: [], position: 0, column: 0, row: 0, x: 0, y: 0 };
    this.#cells.set(id, cell);
    return cell;
  }

  *sort(): Steps<void> {
    if (this.#edges.length === 0) return;
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
      const isForward = sweep % 2 === 0;
      for (let step = 1; step < this.#groups.length; step++) {
        const group = this.#groups[isForward ? step : this.#groups.length - 1 - step];
        if (group === undefined || group.cells.length === 1) continue;
        sortGroup(group, isForward);
        yield;
      }
    }
  }

  /** Puts waves into bands: those that fit side by side. */
  placeWaves(): void {
    const { boxWidth, columnGap, headerHeight, margin } = this.#options;
    const limit = this.#maxColumns();
    // Edges to another band leave on the right and come back on the left.
    const left = this.#totalColumns > limit ? Math.max(margin, columnGap / 2 + EDGE_SPACE) : margin;
    let y = margin;
    for (let first = 0; first < this.#groups.length; ) {
      let end = first;
      let count = 0;
      for (let next = this.#groups[end]; next !== undefined; next = this.#groups[++end]) {
        if (end > first && count + next.columns > limit) break;
        count += next.columns;
      }
      const groups = this.#groups.slice(first, end);
      const rows = groups.reduce((most, group) => Math.max(most, group.rows), 1);
      const height = headerHeight + rows * this.#pitchY - this.#options.rowGap;
      const columns: Column[] = [];
      for (const group of groups) {
        const top = y + headerHeight + ((rows - group.rows) * this.#pitchY) / 2;
        const column = columns.length;
        this.#places.push({ band: this.#bands.length, column });
        const width = group.columns * this.#pitchX - columnGap;
        this.waves.push({ x: left + column * this.#pitchX, y, width, height });
        const { length } = group.cells;
        for (let at = 0; at < group.columns; at++) {
          columns.push({ top, count: Math.ceil((length - at) / group.columns) });
        }
      }
      this.#bands.push({ y, columns });
      this.width = Math.max(this.width, columns.length * this.#pitchX - columnGap);
      y += height + columnGap;
      first = end;
    }
    this.width = Math.max(this.width, boxWidth) + 2 * left;
    this.height = this.#bands.length === 0 ? 2 * margin : y - columnGap + margin;
  }

  get #totalColumns(): number {
    return this.#groups.reduce((sum, { columns }) => sum + columns, 0);
  }

  #maxColumns(): number {
    const total = this.#totalColumns;
    const widest = this.#groups.reduce((most, { columns }) => Math.max(most, columns), 1);
    const rows = this.#groups.reduce((most, group) => Math.max(most, group.rows), 1);
    const { columnGap, headerHeight, maxColumns } = this.#options;
    const bandHeight = headerHeight + rows * this.#pitchY + columnGap;
    const wanted = Math.ceil(Math.sqrt((total * bandHeight * ASPECT) / this.#pitchX));
    const most = Math.max(maxColumns ?? Math.max(FEW_COLUMNS, wanted), widest);
    // Bands of about the same length.
    const bands = Math.max(1, Math.ceil(total / most));
    return Math.max(widest, Math.ceil(total / bands));
  }

  placeBoxes(): PlacedBox[] {
    const { boxHeight } = this.#options;
    return this.#groups.flatMap(({ cells, columns }, wave) => {
      const { x = 0 } = this.waves[wave] ?? {};
      const { band = 0, column = 0 } = this.#places[wave] ?? {};
      const { top = 0 } = this.#bands[band]?.columns[column] ?? {};
      for (const [position, cell] of cells.entries()) {
        cell.column = position % columns;
        cell.row = Math.floor(position / columns);
        cell.x = x + cell.column * this.#pitchX;
        cell.y = top + cell.row * this.#pitchY + boxHeight / 2;
      }
      return cells.map(({ id, index, x: left, y }) => ({ id, wave, index, x: left, y: y - boxHeight / 2 }));
    });
  }

  *routeEdges(): Steps<PlacedEdge[]> {
    const placed: PlacedEdge[] = [];
    for (const { index, from, to } of this.#edges) {
      placed.push({ index, ...this.#route(from, to) });
      if (placed.length % PER_STEP === 0) yield;
    }
    return placed;
  }

  #route(from: Cell, to: Cell): Route {
    const source = this.#places[from.wave];
    const target = this.#places[to.wave];
    const first = (source?.column ?? 0) + from.column;
    const last = (target?.column ?? 0) + to.column;
    if (source === undefined || target === undefined || source.band !== target.band || last <= first) {
      return this.#routeAround(from, to, this.#bands[target?.band ?? 0]?.y ?? 0);
    }
    return this.#routeThrough(from, to, this.#bands[source.band]?.columns ?? [], first, last);
  }

  /** Leads an edge from column to column, between the boxes of the columns in the middle. */
  #routeThrough(from: Cell, to: Cell, columns: readonly Column[], first: number, last: number): Route {
    const { boxWidth, columnGap } = this.#options;
    let x = from.x + boxWidth;
    let { y } = from;
    let path = `M${round(x)} ${round(y)}`;
    const curve = (endX: number, endY: number): void => {
      const middle = round((x + endX) / 2);
      const bend = `C${middle} ${round(y)} ${middle} ${round(endY)} ${round(endX)} ${round(endY)}`;
      path += y === endY ? `H${round(endX)}` : bend;
      [x, y] = [endX, endY];
    };
    const between = last - first - 1;
    if (between <= this.#passesLeft) {
      this.#passesLeft -= between;
      for (let passed = 1; passed <= between; passed++) {
        const wanted = from.y + ((to.y - from.y) * passed) / (between + 1);
        const free = this.#findGap(columns[first + passed], wanted, to.y) + laneOf(from);
        const left = from.x + passed * this.#pitchX;
        curve(left, free);
        path += `H${round(left + boxWidth)}`;
        x = left + boxWidth;
      }
    }
    const labelX = to.x - columnGap / 2;
    const labelY = (y + to.y) / 2;
    curve(to.x, to.y);
    return { path, labelX, labelY };
  }

  /** The height nearest to the wanted one at which a column has no box; of two, the one nearer to `towards`. */
  #findGap(column: Column | undefined, wanted: number, towards: number): number {
    if (column === undefined || column.count === 0) return wanted;
    const first = column.top - this.#options.rowGap / 2;
    const rows = (wanted - first) / this.#pitchY;
    if (rows <= 0 || rows >= column.count) return wanted;
    const nearest = towards < wanted ? Math.ceil(rows - 0.5) : Math.floor(rows + 0.5);
    return first + nearest * this.#pitchY;
  }

  /** Leads an edge to another band: out of its own, along the space above the target's, and into that. */
  #routeAround(from: Cell, to: Cell, top: number): Route {
    const { boxWidth, columnGap } = this.#options;
    const shift = laneOf(from);
    const right = from.x + boxWidth;
    const out = right + columnGap / 2 + shift;
    const along = top - columnGap / 2 + shift;
    const into = to.x - columnGap / 2 + shift;
    const corners = [
      [out, from.y],
      [out, along],
      [into, along],
      [into, to.y],
    ] as const;
    let path = `M${round(right)} ${round(from.y)}`;
    let [lastX, lastY] = [right, from.y];
    for (const [index, [x, y]] of corners.entries()) {
      const [nextX, nextY] = corners[index + 1] ?? [to.x, to.y];
      const [startX, startY] = approach(lastX, lastY, x, y);
      const [endX, endY] = approach(nextX, nextY, x, y);
      path += `L${round(startX)} ${round(startY)}Q${round(x)} ${round(y)} ${round(endX)} ${round(endY)}`;
      [lastX, lastY] = [x, y];
    }
    return { path: `${path}L${round(to.x)} ${round(to.y)}`, labelX: into, labelY: to.y };
  }
}

/** Sorts a wave by the middle of the boxes that its boxes are connected with, in the waves before or after it. */
function sortGroup(group: Group, isForward: boolean): void {
  const keys = new Map<Cell, number>();
  for (const cell of group.cells) {
    const others = isForward ? cell.before : cell.after;
    let sum = 0;
    for (const { position } of others) sum += position;
    keys.set(cell, others.length === 0 ? cell.position : sum / others.length);
  }
  group.cells.sort(
    (a, b) => (keys.get(a) ?? 0) - (keys.get(b) ?? 0) || a.position - b.position || a.index - b.index,
  );
  setPositions(group);
}

function setPositions({ cells, columns }: Group): void {
  const middle = (cells.length - 1) / 2;
  for (const [at, cell] of cells.entries()) cell.position = (at - middle) / columns;
}

function laneOf({ index }: Cell): number {
  return LANES[index % LANES.length] ?? 0;
}

/** The point on the way to a corner at which its curve begins. */
function approach(x: number, y: number, cornerX: number, cornerY: number): readonly [number, number] {
  const length = Math.abs(cornerX - x) + Math.abs(cornerY - y);
  const part = length === 0 ? 0 : Math.min(CORNER_RADIUS, length / 2) / length;
  return [cornerX + (x - cornerX) * part, cornerY + (y - cornerY) * part];
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
