import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import { inflateSync } from 'node:zlib';
import { errorMessage } from '../../../lib/common/errors.js';
import { SCAN_LIMITS } from '../../../lib/common/limits.js';
import type { DocumentPage } from '../../../lib/tools/documents/document.js';
import { parsePdf } from '../../../lib/tools/document-formats/pdf.js';
import { catchRejection } from '../../support/rejection.js';
import {
  bitImage,
  faxImage,
  FULL_PAGE,
  jpegImage,
  makeScan,
  maskImage,
  rgbImage,
  type ScanPage,
} from '../documents/make-scan.js';

const ROWS = ['█ ░ ', ' █  '];

describe('Scanned pages of a PDF (D49)', () => {
  async function read(...pages: ScanPage[]): Promise<readonly DocumentPage[]> {
    return (await parsePdf(makeScan(pages), 'a.pdf', true)).pages ?? [];
  }

  /** Shows a raster with the letters of its columns and rows. */
  async function draw(page: ScanPage, columns = 4, rows = 2): Promise<string[]> {
    const [{ image_bytes: bytes } = { image_bytes: null }] = await read(page);
    return bytes === null ? [] : show(bytes, columns, rows);
  }

  it('become a raster, from JPEG, RGB and images of bits', async () => {
    const drawn = [rgbImage(ROWS), jpegImage(ROWS)].map((image) => draw({ images: { A: image } }));
    expect(await Promise.all(drawn)).to.deep.equal([ROWS, ROWS]);
    expect(await draw({ images: { A: bitImage(['█ █ ', ' █  ']) } })).to.deep.equal(['█ █ ', ' █  ']);
    expect(await draw({ images: { A: bitImage(['██', '  '], 3) } }, 2)).to.deep.equal(['██', '  ']);
    expect(await draw({ images: { A: faxImage() } }, 2)).to.deep.equal(['  ', '██']);
  });

  it('become a raster whether their images are small and stand in the page itself, or stand on several pages', async () => {
    const inline = 'q 200 0 0 100 0 0 cm BI /W 2 /H 2 /CS /G /BPC 8 ID \x00\x7f\x7f\x00 EI Q';
    const image = { images: { A: bitImage(['█ ']) } };
    const [first, second, third] = await read(image, image, { content: inline });
    expect(show(first?.image_bytes ?? null, 2, 1)).to.deep.equal(['█ ']);
    expect(show(second?.image_bytes ?? null, 2, 1)).to.deep.equal(['█ ']);
    expect(third).to.deep.include({ text: '', is_scanned: true, image_mime: 'image/png' });
  });

  it('show all images of a page at their places: strips, turned and mirrored ones', async () => {
    const strips = {
      content: 'q 200 0 0 50 0 50 cm /A Do Q q 200 0 0 50 0 0 cm /B Do Q',
      images: { A: rgbImage(['█ ░ ']), B: rgbImage([' █  ']) },
    };
    expect(await draw(strips)).to.deep.equal(ROWS);
    const mirrored = { content: 'q -200 0 0 100 200 0 cm /A Do Q', images: { A: rgbImage(ROWS) } };
    expect(await draw(mirrored)).to.deep.equal([' ░ █', '  █ ']);
    const turned = { rotate: 90, images: { A: rgbImage(['█ ', '  ']) } };
    expect(await draw(turned, 2)).to.deep.equal([' █', '  ']);
  });

  it('show masks in their colour above what they cover', async () => {
    const layers = {
      content: 'q 200 0 0 100 0 0 cm /A Do 0 0 0 rg /B Do Q',
      images: { A: rgbImage(['░░░░', '░░░░']), B: maskImage(['█   ', '   █']) },
    };
    expect(await draw(layers)).to.deep.equal(['█░░░', '░░░█']);
    expect(await draw({ ...layers, content: layers.content.replace('0 0 0 rg', '1 1 1 rg') })).to.deep.equal([
      ' ░░░',
      '░░░ ',
    ]);
  });

  it('become no larger than models look at, as the average of what they show', async () => {
    const [page] = await read({ images: { A: bitImage(['█ '.repeat(2000)], 1) } });
    const bytes = page?.image_bytes ?? null;
    expect(sizeOf(bytes)).to.deep.equal([SCAN_LIMITS.longerSide, SCAN_LIMITS.longerSide / 2]);
    expect(show(bytes, 6, 1)).to.deep.equal(['░░░░░░']);
  });

  it('are pages without text, or with a stamp on a large image; other pages are left as they are', async () => {
    const stamp = 'BT /F1 12 Tf 10 10 Td (Page 3) Tj ET';
    const text = `BT /F1 2 Tf 10 10 Td (${'A long line of text. '.repeat(6)}) Tj ET`;
    const images = { A: rgbImage(ROWS) };
    const pages = await read(
      { content: `${FULL_PAGE} ${stamp}`, images },
      { content: `q 20 0 0 10 0 0 cm /A Do Q ${stamp}`, images },
      { content: `${FULL_PAGE} ${text}`, images },
      { content: 'q 20 0 0 10 0 0 cm /A Do Q', images },
    );
    expect(pages.map((page) => page.image_bytes !== null)).to.deep.equal([true, false, false, true]);
    expect(pages.map((page) => page.is_scanned)).to.deep.equal([false, false, false, true]);
    expect(pages[0]?.text).to.equal('Page 3');
  });

  it('say what of them cannot be drawn: shapes, and damaged or huge images; an empty page is not scanned', async () => {
    const huge = {
      entries: '/Width 9000 /Height 9000 /ColorSpace /DeviceGray /BitsPerComponent 1',
      data: Buffer.alloc(9),
    };
    const damaged = { ...jpegImage(ROWS), data: Buffer.from('no JPEG') };
    const pages = await read(
      { content: '10 10 50 50 re f' },
      { images: { A: huge } },
      { images: { A: damaged } },
      { content: '10 10 50 50 re W n' },
    );
    expect(pages.map((page) => page.metadata['unread'])).to.deep.equal([
      'lines and shapes are drawn, but no image',
      'an image cannot be decoded, or is too large',
      'an image cannot be decoded, or is too large',
      undefined,
    ]);
    expect(pages.map((page) => page.is_scanned)).to.deep.equal([true, true, true, false]);
  });

  it(`are at most ${SCAN_LIMITS.pages} in one document`, async () => {
    const page = { images: { A: bitImage(['█']) } };
    const many = Array.from({ length: SCAN_LIMITS.pages }, () => page);
    expect(await read(...many)).to.have.length(SCAN_LIMITS.pages);
    expect(errorMessage(await catchRejection(read(...many, page)))).to.contain(
      `"a.pdf" has more than ${SCAN_LIMITS.pages} scanned pages, the limit for reading them with a model: split it`,
    );
  });

  it('stay without a raster when no model will read them', async () => {
    const { pages } = await parsePdf(makeScan([{ images: { A: rgbImage(ROWS) } }]), 'a.pdf');
    expect(pages?.[0]).to.deep.include({ is_scanned: true, image_bytes: null, image_mime: null });
  });
});

function sizeOf(png: Uint8Array | null): [number, number] {
  const bytes = Buffer.from(png ?? []);
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

/** Reads the middle of each column and row of a PNG in grey without filters. */
function show(png: Uint8Array | null, columns: number, rows: number): string[] {
  const [width, height] = sizeOf(png);
  const bytes = Buffer.from(png ?? []);
  const data = inflateSync(bytes.subarray(41, 41 + bytes.readUInt32BE(33)));
  return Array.from({ length: rows }, (_, row) => {
    const y = Math.floor(((row + 0.5) * height) / rows);
    return Array.from({ length: columns }, (_, column) => {
      const shade = data[y * (width + 1) + 1 + Math.floor(((column + 0.5) * width) / columns)] ?? 0;
      return shade < 60 ? '█' : shade > 190 ? ' ' : '░';
    }).join('');
  });
}
