/** A page of a PDF: its lines of text, in plain letters. */
type PdfPage = readonly string[];

interface PdfOptions {
  readonly title?: string;
  /** Adds a dictionary of encryption whose password nobody knows. */
  readonly encrypted?: boolean;
}

/** Makes a small, valid PDF with a text of some lines on each page, 612 by 792 points. */
export function makePdf(pages: readonly PdfPage[], { title, encrypted = false }: PdfOptions = {}): Buffer {
  const objects: string[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, i) => `${4 + 2 * i} 0 R`).join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  for (const [i, lines] of pages.entries()) {
    const drawn = lines.map((line) => `(${line.replaceAll(/[\\()]/g, '\\$&')}) Tj T*`).join('\n');
    const content = `BT /F1 12 Tf 14 TL 72 720 Td\n${drawn}\nET`;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + 2 * i} 0 R ` +
        '/Resources << /Font << /F1 3 0 R >> >> >>',
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    );
  }
  let trailer = `/Size ${objects.length + 1} /Root 1 0 R`;
  if (title !== undefined) trailer += ` /Info << /Title (${title}) >>`;
  if (encrypted) {
    const key = '00'.repeat(32);
    trailer +=
      ` /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <${key}> /U <${key}> >>` +
      ' /ID [<0123456789abcdef0123456789abcdef> <0123456789abcdef0123456789abcdef>]';
  }
  return assemble(objects, trailer);
}

function assemble(objects: readonly string[], trailer: string): Buffer {
  const parts = ['%PDF-1.4\n'];
  let length = 9;
  const offsets: number[] = [];
  for (const [i, object] of objects.entries()) {
    offsets.push(length);
    const part = `${i + 1} 0 obj\n${object}\nendobj\n`;
    parts.push(part);
    length += part.length;
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  parts.push(
    `xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n${table}` +
      `trailer\n<< ${trailer} >>\nstartxref\n${length}\n%%EOF\n`,
  );
  return Buffer.from(parts.join(''), 'latin1');
}
