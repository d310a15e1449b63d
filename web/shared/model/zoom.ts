/** A scale that the reader has chosen, or one that follows from the room that there is. */
export type Zoom = number | 'auto' | 'fit';

/** In CSS pixels. */
export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/** The scales of a drawing that nobody has chosen. */
export interface ScaleLimits {
  /** A drawing that would be smaller to fit is scrolled instead, unless the reader wants it to fit: it must be readable. */
  readonly smallest: number;
  readonly largest: number;
}

/** Everything has its own size until the reader chooses another one. */
export const OWN_SIZE: ScaleLimits = { smallest: 1, largest: 1 };

const STEPS = [0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1, 1.25, 1.6];

/** Two scales that differ by less look the same. */
const TOLERANCE = 0.01;

/** Returns the scale of a drawing in a room; that of a room which was not measured yet is of no concern. */
export function scaleOf(
  zoom: Zoom,
  drawing: PixelSize,
  room: PixelSize,
  { smallest, largest }: ScaleLimits,
): number {
  if (typeof zoom === 'number') return zoom;
  const isMeasured = room.width > 0 && room.height > 0 && drawing.width > 0 && drawing.height > 0;
  const fit = isMeasured
    ? Math.min(largest, room.width / drawing.width, room.height / drawing.height)
    : largest;
  return zoom === 'fit' ? fit : Math.max(smallest, fit);
}

/** Returns the next smaller or larger scale; the same at both ends. */
export function stepZoom(scale: number, by: -1 | 1): number {
  const next =
    by > 0
      ? STEPS.find((step) => step > scale + TOLERANCE)
      : STEPS.findLast((step) => step < scale - TOLERANCE);
  return next ?? scale;
}

/** Fits the drawing into its room, or undoes that. */
export function toggleFit(zoom: Zoom): Zoom {
  return zoom === 'fit' ? 'auto' : 'fit';
}

/** Returns what a key makes of a zoom; undefined for a key that does not zoom. */
export function zoomByKey(key: string, zoom: Zoom, scale: number): Zoom | undefined {
  if (key === '+' || key === '=') return stepZoom(scale, 1);
  if (key === '-') return stepZoom(scale, -1);
  return key === '0' ? toggleFit(zoom) : undefined;
}
