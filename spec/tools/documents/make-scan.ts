import { Buffer } from 'node:buffer';
import { deflateSync } from 'node:zlib';

/** A page of a PDF: what it draws, and its images by name. */
export interface ScanPage {
  /** Operators; default: the image `A` over the whole page. */
  readonly content?: string;
  readonly images?: Readonly<Record<string, ScanImage>>;
  /** Degrees by which a viewer turns the page. */
  readonly rotate?: number;
}

/** An image as the PDF stores it. */
export interface ScanImage {
  /** Entries of its dictionary besides Type, Subtype and Length. */
  readonly entries: string;
  readonly data: Buffer;
}

export const FULL_PAGE = 'q 200 0 0 100 0 0 cm /A Do Q';

/** Makes a PDF of pages of 200 by 100 points. */
export function makeScan(pages: readonly ScanPage[]): Buffer {
  const objects: Buffer[] = [];
  const add = (...parts: (string | Buffer)[]): string => {
    objects.push(Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))));
    return `${objects.length + 3} 0 R`;
  };
  const addStream = (entries: string, data: Buffer): string =>
    add(`<< ${entries} /Length ${data.length} >>\nstream\n`, data, '\nendstream');
  const kids = pages.map(({ content = FULL_PAGE, images = {}, rotate = 0 }) => {
    const names = Object.entries(images).map(
      ([name, { entries, data }]) =>
        `/${name} ${addStream(`/Type /XObject /Subtype /Image ${entries}`, data)}`,
    );
    const drawn = addStream('', Buffer.from(content));
    return add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Rotate ${rotate} /Contents ${drawn} ` +
        `/Resources << /Font << /F1 3 0 R >> /XObject << ${names.join(' ')} >> >> >>`,
    );
  });
  const first = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${kids.length} /Kids [${kids.join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ].map((text) => Buffer.from(text));
  return assemble([...first, ...objects]);
}

function assemble(objects: readonly Buffer[]): Buffer {
  const parts = [Buffer.from('%PDF-1.4\n')];
  let length = 9;
  const offsets = objects.map((object, i) => {
    const offset = length;
    const part = Buffer.concat([Buffer.from(`${i + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')]);
    parts.push(part);
    length += part.length;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const size = objects.length + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}trailer\n<< /Size ${size} /Root 1 0 R >>\n` +
        `startxref\n${length}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

/** `█` is black, `░` grey and ` ` white; each letter becomes a square of `size` pixels. */
const SHADES: Readonly<Record<string, number>> = { '█': 0, '░': 120, ' ': 255 };

function pixelsOf(rows: readonly string[], size: number): number[][] {
  return rows.flatMap((row) => {
    const line = row.split('').flatMap((letter) => Array.from({ length: size }, () => SHADES[letter] ?? 255));
    return Array.from({ length: size }, () => line);
  });
}

function dimensions(pixels: readonly (readonly number[])[]): string {
  return `/Width ${pixels[0]?.length ?? 0} /Height ${pixels.length}`;
}

/** An image in colour, packed by deflate. */
export function rgbImage(rows: readonly string[], size = 10): ScanImage {
  const pixels = pixelsOf(rows, size);
  const data = deflateSync(Buffer.from(pixels.flat().flatMap((shade) => [shade, shade, shade])));
  const entries = `${dimensions(pixels)} /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode`;
  return { entries, data };
}

/** An image of black and white, a bit for each pixel. */
export function bitImage(rows: readonly string[], size = 10): ScanImage {
  const pixels = pixelsOf(rows, size);
  const entries = `${dimensions(pixels)} /ColorSpace /DeviceGray /BitsPerComponent 1`;
  return { entries, data: packBits(pixels) };
}

/** A mask: its black parts are painted in the colour of the page, and its white ones are transparent. */
export function maskImage(rows: readonly string[], size = 10): ScanImage {
  const pixels = pixelsOf(rows, size);
  return { entries: `${dimensions(pixels)} /ImageMask true /BitsPerComponent 1`, data: packBits(pixels) };
}

function packBits(pixels: readonly (readonly number[])[]): Buffer {
  const rows = pixels.map((line) => toBytes(line.map((shade) => (shade > 127 ? '1' : '0')).join('')));
  return Buffer.concat(rows);
}

function toBytes(bits: string): Buffer {
  const bytes = bits.match(/.{1,8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)));
}

/** A fax of group 4, 16 by 16: its upper half is white, its lower half black. */
export function faxImage(): ScanImage {
  const white = '1';
  const firstBlack = ['001', '00110101', '0000010111'].join('');
  const black = '11';
  const end = '000000000001'.repeat(2);
  const data = toBytes(white.repeat(8) + firstBlack + black.repeat(7) + end);
  const parameters = '/DecodeParms << /K -1 /Columns 16 /Rows 16 >>';
  const entries = `/Width 16 /Height 16 /ColorSpace /DeviceGray /BitsPerComponent 1 /Filter /CCITTFaxDecode ${parameters}`;
  return { entries, data };
}

/** A JPEG in grey, whose letters are its blocks of 8 by 8 pixels. */
export function jpegImage(rows: readonly string[]): ScanImage {
  const [width, height] = [8 * (rows[0] ?? '').length, 8 * rows.length];
  let before = 0;
  const bits = rows
    .flatMap((row) => row.split(''))
    .map((letter) => {
      const average = 8 * ((SHADES[letter] ?? 255) - 128);
      const difference = average - before;
      before = average;
      // The code 0 says that nothing changes, 10 that eleven bits follow; the last 0 that the block has no detail.
      if (difference === 0) return '00';
      const value = difference > 0 ? difference : difference + 2047;
      return `10${value.toString(2).padStart(11, '0')}0`;
    });
  const entropy = toBytes(bits.join('').padEnd(Math.ceil(bits.join('').length / 8) * 8, '1'));
  const stuffed = [...entropy].flatMap((byte) => (byte === 0xff ? [0xff, 0] : [byte]));
  const segment = (marker: number, ...bytes: number[]): number[] => {
    const length = bytes.length + 2;
    return [0xff, marker, length >> 8, length & 0xff, ...bytes];
  };
  const noMore = (count: number): number[] => Array.from({ length: count }, () => 0);
  const data = Buffer.from([
    0xff,
    0xd8,
    ...segment(0xdb, 0, ...Array.from({ length: 64 }, () => 1)),
    ...segment(0xc0, 8, height >> 8, height & 0xff, width >> 8, width & 0xff, 1, 1, 0x11, 0),
    ...segment(0xc4, 0x00, 1, 1, ...noMore(14), 0, 11),
    ...segment(0xc4, 0x10, 1, ...noMore(15), 0),
    ...segment(0xda, 1, 1, 0, 0, 63, 0),
    ...stuffed,
    0xff,
    0xd9,
  ]);
  return {
    entries: `/Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /DCTDecode`,
    data,
  };
}
