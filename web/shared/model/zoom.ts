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

const LARGEST_STEP = 1.6;

/** A turn of the wheel counts as at most so many pixels, so that a mouse whose wheel clicks zooms as smoothly as a pinch. */
const MOST_WHEEL_PIXELS = 30;

/** Of these pixels, so many change the scale by the factor e. */
const WHEEL_PIXELS_PER_E = 100;

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

/** Returns the smallest scale to choose: at half of what fits everything is in sight, and below there is only less to see. */
export function leastScale(drawing: PixelSize, room: PixelSize, limits: ScaleLimits): number {
  return scaleOf('fit', drawing, room, limits) / 2;
}

/** Returns the next smaller or larger scale; the same at both ends. @param least the smallest that makes sense */
export function stepZoom(scale: number, by: -1 | 1, least: number): number {
  if (by > 0) return STEPS.find((step) => step > scale + TOLERANCE) ?? scale;
  const next = STEPS.findLast((step) => step < scale - TOLERANCE) ?? scale;
  return Math.max(next, Math.min(least, scale));
}

/** Returns the scale after a turn of the wheel. @param pixels below 0 for larger @param least the smallest that makes sense */
export function wheelZoom(scale: number, pixels: number, least: number): number {
  const turned = Math.min(MOST_WHEEL_PIXELS, Math.max(-MOST_WHEEL_PIXELS, pixels));
  const next = scale * Math.exp(-turned / WHEEL_PIXELS_PER_E);
  return Math.min(Math.max(next, Math.min(least, scale)), Math.max(LARGEST_STEP, scale));
}

/** Fits the drawing into its room, or undoes that. */
export function toggleFit(zoom: Zoom): Zoom {
  return zoom === 'fit' ? 'auto' : 'fit';
}

/** Returns what a key makes of a zoom; undefined for a key that does not zoom. */
export function zoomByKey(key: string, zoom: Zoom, scale: number, least: number): Zoom | undefined {
  if (key === '+' || key === '=') return stepZoom(scale, 1, least);
  if (key === '-') return stepZoom(scale, -1, least);
  return key === '0' ? toggleFit(zoom) : undefined;
}
