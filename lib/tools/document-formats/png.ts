import { Buffer } from 'node:buffer';
import { constants, crc32, deflateSync } from 'node:zlib';
import type { Raster } from './page-raster.js';

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const BITS_PER_PIXEL = 8;
const GREYSCALE = 0;
/** Grain of a scanner takes most of the space, and shows nothing. */
const SHADES = 16;

/**
 * Encodes a raster as PNG, in 16 shades. The bytes are the same on every machine, so that answers that were recorded for
 * a raster are found again: `Z_RLE` alone leaves zlib no choice that depends on the processor.
 */
export function encodePng({ width, height, pixels }: Raster): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = BITS_PER_PIXEL;
  header[9] = GREYSCALE;
  // Each row begins with its filter, which is none.
  const rows = new Uint8Array(height * (width + 1));
  const step = 255 / (SHADES - 1);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      rows[y * (width + 1) + 1 + x] = Math.round((pixels[y * width + x] ?? 0) / step) * step;
    }
  }
  const packed = deflateSync(rows, { strategy: constants.Z_RLE, level: 9, memLevel: 8, windowBits: 15 });
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', packed), chunk('IEND')]);
}

function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(content.length + 8);
  framed.writeUInt32BE(data.length, 0);
  content.copy(framed, 4);
  framed.writeUInt32BE(crc32(content), content.length + 4);
  return framed;
}
