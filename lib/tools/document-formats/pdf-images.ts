import { isObject, toList } from '../../common/json/json.js';
import { SCAN_LIMITS } from '../../common/limits.js';

type Pdfjs = Awaited<ReturnType<typeof import('unpdf').getResolvedPDFJS>>;
type PdfDocument = Awaited<ReturnType<typeof import('unpdf').getDocumentProxy>>;
export type PdfPage = Awaited<ReturnType<PdfDocument['getPage']>>;

/** `[a, b, c, d, e, f]`: x' = a·x + c·y + e, y' = b·x + d·y + f. */
export type Matrix = readonly [number, number, number, number, number, number];

/** The pixels of an image, the topmost row first. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** `bits`: a row begins with a byte, 1 is white; `mask`: the same, 0 is painted. */
  readonly kind: 'bits' | 'mask' | 'rgb' | 'rgba';
  readonly data: Uint8Array;
}

/** An image on a page. */
export interface PaintedImage extends Pixels {
  /** From the unit square, whose origin is at the lower left, into points on the page. */
  readonly matrix: Matrix;
  /** The grey of a mask, from 0 for black to 255. */
  readonly shade: number;
}

/** The images and shapes that a page draws besides text. */
export interface Painting {
  readonly images: readonly PaintedImage[];
  /** Images that cannot be decoded, or are too many. */
  readonly unreadable: number;
  /** The largest unit square of the page, in square points: what a page stretches to its own size is an image. */
  readonly largestUnit: number;
  readonly drawsShapes: boolean;
}

interface GraphicsState {
  readonly matrix: Matrix;
  readonly shade: number;
}

const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];

/** Collects the images that a page paints, at their places. Clips, and shapes that hide an image, are not heeded. */
export async function collectImages(page: PdfPage, { OPS, AnnotationMode }: Pdfjs): Promise<Painting> {
  const list = await page.getOperatorList({ annotationMode: AnnotationMode.DISABLE });
  const { argsArray: allArguments }: { argsArray: readonly unknown[] } = list;
  const images: PaintedImage[] = [];
  let unreadable = 0;
  let drawsShapes = false;
  let largestUnit = 1;
  let state: GraphicsState = { matrix: IDENTITY, shade: 0 };
  const saved: GraphicsState[] = [];
  // True for each open group that is a soft mask, or within one: its images are not visible.
  const groups: boolean[] = [];
  for (const [position, operator] of list.fnArray.entries()) {
    const values = toList(allArguments[position]);
    switch (operator) {
      case OPS.save:
        saved.push(state);
        break;
      case OPS.restore:
      case OPS.paintFormXObjectEnd:
        state = saved.pop() ?? state;
        break;
      case OPS.paintFormXObjectBegin:
        saved.push(state);
        state = { ...state, matrix: multiply(state.matrix, toMatrix(values[0])) };
        break;
      case OPS.beginGroup:
        saved.push(state);
        groups.push(groups.at(-1) === true || isSoftMask(values[0]));
        break;
      case OPS.endGroup:
        state = saved.pop() ?? state;
        groups.pop();
        break;
      case OPS.transform:
        state = { ...state, matrix: multiply(state.matrix, toMatrix(values)) };
        largestUnit = Math.max(largestUnit, areaOf(state.matrix));
        break;
      case OPS.setFillRGBColor:
        state = { ...state, shade: shadeOf(values[0]) };
        break;
      case OPS.paintImageXObject:
      case OPS.paintInlineImageXObject:
      case OPS.paintImageMaskXObject: {
        if (groups.at(-1) === true) break;
        const isMask = operator === OPS.paintImageMaskXObject;
        const pixels = toPixels(await findImage(page, values[0]), isMask);
        if (pixels === undefined || images.length === SCAN_LIMITS.imagesOfPage) unreadable++;
        else images.push({ ...pixels, ...state });
        break;
      }
      case OPS.paintImageXObjectRepeat:
      case OPS.paintInlineImageXObjectGroup:
      case OPS.paintImageMaskXObjectRepeat:
      case OPS.paintImageMaskXObjectGroup:
      case OPS.shadingFill:
      case OPS.rawFillPath:
        drawsShapes = true;
        break;
      case OPS.constructPath:
        // The first value says what is done with the path; to end it paints nothing.
        if (values[0] !== OPS.endPath) drawsShapes = true;
        break;
      default:
    }
  }
  return { images, unreadable, largestUnit, drawsShapes };
}

/** The matrix that does `second`, then `first`. */
export function multiply(first: Matrix, second: Matrix): Matrix {
  const [a, b, c, d, e, f] = first;
  const [p, q, r, s, t, u] = second;
  return [a * p + c * q, b * p + d * q, a * r + c * s, b * r + d * s, a * t + c * u + e, b * t + d * u + f];
}

/** The area of the unit square after a matrix. */
export function areaOf([a, b, c, d]: Matrix): number {
  return Math.abs(a * d - b * c);
}

/** Reads a list, or a typed array, of six numbers. */
export function toMatrix(value: unknown): Matrix {
  const given: readonly unknown[] = value instanceof Float32Array ? [...value] : toList(value);
  const [a, b, c, d, e, f] = given.map(Number);
  const matrix: Matrix = [a ?? 1, b ?? 0, c ?? 0, d ?? 1, e ?? 0, f ?? 0];
  return matrix.every((number) => Number.isFinite(number)) ? matrix : IDENTITY;
}

function isSoftMask(group: unknown): boolean {
  return isObject(group) && isObject(group['smask']);
}

/** The grey of a colour such as `#ff8000`. */
function shadeOf(color: unknown): number {
  if (typeof color !== 'string' || !/^#[0-9a-f]{6}$/i.test(color)) return 0;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) =>
    Number.parseInt(color.slice(start, start + 2), 16),
  );
  return greyOf(red, green, blue);
}

/** The brightness of a colour, from 0 to 255. */
export function greyOf(red: number, green: number, blue: number): number {
  return (red * 77 + green * 150 + blue * 29) >> 8;
}

/** An image stands in the operator itself, or is named there; of one that is named, only the name may be there. */
async function findImage(page: PdfPage, value: unknown): Promise<unknown> {
  const name = isObject(value) ? value['data'] : value;
  if (typeof name !== 'string') return value;
  const objects = name.startsWith('g_') ? page.commonObjs : page.objs;
  return await new Promise((resolve) => objects.get(name, resolve));
}

function toPixels(image: unknown, isMask: boolean): Pixels | undefined {
  if (!isObject(image)) return undefined;
  const { width, height } = image;
  const data = toBytes(image['data']);
  if (data === undefined || !isSize(width) || !isSize(height)) return undefined;
  const pixels = width * height;
  const rowBytes = Math.ceil(width / 8);
  if (data.length === rowBytes * height) return { width, height, kind: isMask ? 'mask' : 'bits', data };
  if (data.length === 3 * pixels) return { width, height, kind: 'rgb', data };
  if (data.length === 4 * pixels) return { width, height, kind: 'rgba', data };
  return undefined;
}

function toBytes(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8ClampedArray) return new Uint8Array(value.buffer, value.byteOffset, value.length);
  return value instanceof Uint8Array ? value : undefined;
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0;
}
