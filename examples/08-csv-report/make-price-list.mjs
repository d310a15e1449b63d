// Makes price-list.pdf, which workbook.yaml reads: node make-price-list.mjs
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The lines of each page. */
const pages = [
  ['Price list, autumn 2026', '', 'Article  EUR per bag', 'Sumatra  9.80', 'Yirgacheffe  12.40'],
  ['Price list, autumn 2026, page 2', '', 'Article  EUR per bag', 'Huila  11.20', 'Decaf  8.90'],
];

const objects = [
  '<< /Type /Catalog /Pages 2 0 R >>',
  `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, i) => `${4 + 2 * i} 0 R`).join(' ')}] >>`,
  '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
];
pages.forEach((lines, i) => {
  const text = `BT /F1 12 Tf 14 TL 72 720 Td\n${lines.map((line) => `(${line}) Tj T*`).join('\n')}\nET`;
  objects.push(
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + 2 * i} 0 R ` +
      '/Resources << /Font << /F1 3 0 R >> >> >>',
    `<< /Length ${text.length} >>\nstream\n${text}\nendstream`,
  );
});

// A PDF ends with a table of where its objects begin.
let pdf = '%PDF-1.4\n';
const offsets = objects.map((object, i) => {
  const offset = pdf.length;
  pdf += `${i + 1} 0 obj\n${object}\nendobj\n`;
  return `${String(offset).padStart(10, '0')} 00000 n \n`;
});
const size = objects.length + 1;
pdf += `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}trailer\n<< /Size ${size} /Root 1 0 R /Info << /Title (Price list) >> >>\nstartxref\n${pdf.length}\n%%EOF\n`;

writeFileSync(join(import.meta.dirname, 'price-list.pdf'), pdf, 'latin1');
