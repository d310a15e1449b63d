import { SCAN_LIMITS } from '../../common/limits.js';
import { areaOf, greyOf, type Matrix, multiply, type PaintedImage } from './pdf-images.js';

/** A raster in grey: a byte for each pixel, 255 is white, the topmost row first. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

/** The part of a page that is seen, in points. */
export interface PageView {
  readonly width: number;
  readonly height: number;
  /** From points on the page into points from the upper left of the view: it may also turn the page. */
  readonly matrix: Matrix;
}

/**
 * Paints the images of a page on white, as fine as the finest of them is, but within {@link SCAN_LIMITS}. An image that is
 * finer than the raster is made smaller first, so that each pixel of the raster is the average of what it shows.
 *
 * @param images at least one
 */
export function paintRaster(images: readonly PaintedImage[], view: PageView): Raster {
  const longerSide = Math.max(view.width, view.height);
  const finest = Math.max(...images.map((image) => pixelsPerPoint(image)));
  const scale = Math.min(finest, SCAN_LIMITS.longerSide / longerSide);
  const width = Math.max(1, Math.round(view.width * scale));
  const height = Math.max(1, Math.round(view.height * scale));
  const raster: Raster = { width, height, pixels: new Uint8Array(width * height).fill(255) };
  const toRaster = multiply([width / view.width, 0, 0, height / view.height, 0, 0], view.matrix);
  for (const image of images) paintImage(raster, image, multiply(toRaster, image.matrix));
  return raster;
}

/** The part of a page that its images cover, from 0 to 1; where images overlap, it counts twice. */
export function coverage(images: readonly PaintedImage[], { width, height }: PageView): number {
  const area = images.reduce((sum, { matrix }) => sum + areaOf(matrix), 0);
  return Math.min(1, area / (width * height));
}

function pixelsPerPoint({ width, height, matrix: [a, b, c, d] }: PaintedImage): number {
  const [across, along] = [Math.hypot(a, b), Math.hypot(c, d)];
  return across > 0 && along > 0 ? Math.max(width / across, height / along) : 0;
}

/** @param matrix from the unit square of the image into pixels of the raster */
function paintImage(raster: Raster, image: PaintedImage, matrix: Matrix): void {
  const [a, b, c, d, e, f] = matrix;
  const determinant = a * d - b * c;
  if (determinant === 0) return;
  const stepX = Math.max(1, Math.round(image.width / Math.hypot(a, b)));
  const stepY = Math.max(1, Math.round(image.height / Math.hypot(c, d)));
  const layer = shrink(image, stepX, stepY);
  const [scaleX, scaleY] = [image.width / stepX, image.height / stepY];
  const [left, right] = range([e, e + a, e + c, e + a + c], raster.width);
  const [top, bottom] = range([f, f + b, f + d, f + b + d], raster.height);
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      const fromX = x + 0.5 - e;
      const fromY = y + 0.5 - f;
      const across = (d * fromX - c * fromY) / determinant;
      const up = (a * fromY - b * fromX) / determinant;
      if (across < 0 || across >= 1 || up < 0 || up >= 1) continue;
      paintPixel(raster.pixels, y * raster.width + x, layer, across * scaleX - 0.5, (1 - up) * scaleY - 0.5);
    }
  }
}

/** The whole numbers that cover four corners, from 0 to `end`. */
function range(corners: readonly number[], end: number): [number, number] {
  const [least, most] = [Math.floor(Math.min(...corners)), Math.ceil(Math.max(...corners))];
  return [Math.max(0, least), Math.min(end, most)];
}

/** An image in grey, of which parts may be transparent. */
interface Layer {
  readonly width: number;
  readonly height: number;
  /** How much light a pixel adds, and how much of what is below it covers; both from 0 to 255. */
  readonly light: Uint8Array;
  readonly cover: Uint8Array;
}

/** Paints the place (x, y) of a layer, which lies between four of its pixels. */
function paintPixel(pixels: Uint8Array, target: number, layer: Layer, x: number, y: number): void {
  const { width, height, light, cover } = layer;
  const column = Math.floor(x);
  const row = Math.floor(y);
  const upper = Math.max(0, row) * width;
  const lower = Math.min(height - 1, row + 1) * width;
  const left = Math.max(0, column);
  const right = Math.min(width - 1, column + 1);
  const [partX, partY] = [x - column, y - row];
  const shares = [(1 - partX) * (1 - partY), partX * (1 - partY), (1 - partX) * partY, partX * partY];
  let added = 0;
  let covered = 0;
  for (let corner = 0; corner < 4; corner++) {
    const at = (corner < 2 ? upper : lower) + (corner % 2 === 0 ? left : right);
    added += (shares[corner] ?? 0) * (light[at] ?? 0);
    covered += (shares[corner] ?? 0) * (cover[at] ?? 0);
  }
  const kept = ((pixels[target] ?? 255) * (255 - covered)) / 255;
  pixels[target] = Math.min(255, Math.round(kept + added));
}

/** Makes one pixel of each `stepX` by `stepY`, their average. */
function shrink(image: PaintedImage, stepX: number, stepY: number): Layer {
  const width = Math.ceil(image.width / stepX);
  const height = Math.ceil(image.height / stepY);
  const light = new Uint8Array(width * height);
  const cover = new Uint8Array(width * height).fill(255);
  const isOpaque = image.kind === 'bits' || image.kind === 'rgb';
  const line = { light: new Uint8Array(image.width), cover: new Uint8Array(image.width) };
  const sums = { light: new Uint32Array(width), cover: new Uint32Array(width) };
  for (let row = 0; row < height; row++) {
    const top = row * stepY;
    const lines = Math.min(stepY, image.height - top);
    sums.light.fill(0);
    sums.cover.fill(0);
    for (let y = top; y < top + lines; y++) {
      readLine(image, y, line);
      addLine(sums.light, line.light, stepX);
      if (!isOpaque) addLine(sums.cover, line.cover, stepX);
    }
    for (let column = 0; column < width; column++) {
      const count = lines * Math.min(stepX, image.width - column * stepX);
      light[row * width + column] = Math.round((sums.light[column] ?? 0) / count);
      if (!isOpaque) cover[row * width + column] = Math.round((sums.cover[column] ?? 0) / count);
    }
  }
  return { width, height, light, cover };
}

/** Adds each `step` pixels of a line to a sum. */
function addLine(sums: Uint32Array, line: Uint8Array, step: number): void {
  for (let column = 0, x = 0; column < sums.length; column++) {
    let sum = sums[column] ?? 0;
    for (const end = Math.min(line.length, x + step); x < end; x++) sum += line[x] ?? 0;
    sums[column] = sum;
  }
}

/** Reads a line of an image. An image that cannot be transparent sets no `cover`. */
function readLine(
  { kind, data, width, shade }: PaintedImage,
  y: number,
  { light, cover }: Pick<Layer, 'light' | 'cover'>,
): void {
  if (kind === 'bits' || kind === 'mask') {
    const start = y * Math.ceil(width / 8);
    const [ifSet, ifNot] = kind === 'bits' ? [255, 0] : [0, shade];
    for (let x = 0; x < width; x++) {
      const isSet = ((data[start + (x >> 3)] ?? 0) & (0x80 >> (x & 7))) !== 0;
      light[x] = isSet ? ifSet : ifNot;
      if (kind === 'mask') cover[x] = isSet ? 0 : 255;
    }
  } else if (kind === 'rgb') {
    for (let x = 0, at = y * width * 3; x < width; x++, at += 3)
      light[x] = greyOf(data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0);
  } else {
    for (let x = 0, at = y * width * 4; x < width; x++, at += 4) {
      const opacity = data[at + 3] ?? 255;
      const grey = greyOf(data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0);
      light[x] = Math.round((grey * opacity) / 255);
      cover[x] = opacity;
    }
  }
}
