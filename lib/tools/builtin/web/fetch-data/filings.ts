import { isObject, toList } from '../../../../common/json/json.js';

/** A document that a company has filed. */
export interface Filing {
  readonly form: string;
  /** As `2024-11-01`. */
  readonly filing_date: string;
  /** The end of the period that the filing reports; empty when it reports none. */
  readonly report_date: string;
  readonly accession_no: string;
  readonly url: string;
  readonly primary_document: string;
}

/** The filings that are asked for. */
export interface FilingQuery {
  readonly year: number | undefined;
  /** The end of the period that the filings report, as `2024-09-28`. */
  readonly periodEnd: string | undefined;
  /** In capitals; empty: any. */
  readonly forms: readonly string[];
  readonly count: number;
}

/** Forms that report a year, which most companies file in the next one. */
const ANNUAL_FORMS = new Set(['10-K', '10-KT', '20-F', '40-F']);

/** Lists the filings in the columns that the SEC gives: one list for each field. */
export function readFilings(columns: unknown, cik: string, archive: string): Filing[] {
  const listed = isObject(columns) ? columns : {};
  const text = (column: string, row: number): string => {
    const value = toList(listed[column])[row];
    return typeof value === 'string' ? value : '';
  };
  return toList(listed['accessionNumber']).map((_, row) => {
    const accessionNo = text('accessionNumber', row);
    const document = text('primaryDocument', row);
    const folder = `${archive}/Archives/edgar/data/${Number(cik)}/${accessionNo.replaceAll('-', '')}`;
    return {
      form: text('form', row),
      filing_date: text('filingDate', row),
      report_date: text('reportDate', row),
      accession_no: accessionNo,
      url: `${folder}/${document}`,
      primary_document: document,
    };
  });
}

/** Finds the filings of the forms and the year. An annual report of a year is filed in it or in the next one. */
export function matchFilings(filings: readonly Filing[], { forms, year }: FilingQuery): Filing[] {
  return filings.filter(({ form, filing_date: filed }) => {
    if (forms.length > 0 && !forms.includes(form.toUpperCase())) return false;
    if (year === undefined) return true;
    const filedIn = Number(filed.slice(0, 4));
    return filedIn === year || (filedIn === year + 1 && ANNUAL_FORMS.has(form.toUpperCase()));
  });
}

/**
 * Chooses among filings that match: those that report the period, else those of the period nearest before it, else the
 * first; without a period, as many as are asked for.
 */
export function chooseFilings(filings: readonly Filing[], { periodEnd, count }: FilingQuery): Filing[] {
  const most = Math.max(1, count);
  if (periodEnd === undefined) return filings.slice(0, most);
  const dates = filings
    .map(({ report_date: date }) => date)
    .filter((date) => date !== '' && date <= periodEnd);
  const nearest = dates.reduce((latest, date) => (date > latest ? date : latest), '');
  const found = filings.filter(({ report_date: date }) => nearest !== '' && date === nearest);
  return (found.length > 0 ? found : filings.slice(0, 1)).slice(0, most);
}
