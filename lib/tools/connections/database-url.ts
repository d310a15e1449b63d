import { formatNumber } from '../../common/text.js';

/** The schemes of the databases that there are; `sqlite:` and `duckdb:` are followed by the path of a file. */
const DATABASE_SCHEMES = ['postgres', 'postgresql', 'mysql', 'mariadb', 'sqlite', 'duckdb'] as const;

type DatabaseScheme = (typeof DATABASE_SCHEMES)[number];

const MAX_URL_LENGTH = 8192;

const LOCAL: ReadonlySet<string> = new Set<DatabaseScheme>(['sqlite', 'duckdb']);

const SECRET_PARAMETER = /pass|pwd|secret|token|key/i;

/** The scheme of a URL; undefined when no database has it. */
function schemeOf(url: string): DatabaseScheme | undefined {
  const name = /^([a-z]+):/i.exec(url)?.[1]?.toLowerCase();
  return DATABASE_SCHEMES.find((scheme) => scheme === name);
}

/** Says why a text is no URL of a database, as the end of a sentence without the text, which may hold a password. */
export function findUrlProblem(url: string): string | undefined {
  if (url.length > MAX_URL_LENGTH) return `has more than ${formatNumber(MAX_URL_LENGTH)} characters`;
  const scheme = schemeOf(url);
  if (scheme === undefined) {
    return 'must begin with postgres://, mysql://, mariadb://, sqlite: or duckdb:, as in postgres://user:password@host/database';
  }
  if (LOCAL.has(scheme)) return undefined;
  const parsed = url.includes('://') && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || parsed.hostname === '') {
    return `must be like ${scheme}://user:password@host/database, with the special characters of a password percent-encoded (# is %23)`;
  }
  return undefined;
}

/** The password in a URL, decoded; undefined when it has none. */
export function passwordOf(url: string): string | undefined {
  const scheme = schemeOf(url);
  if (scheme === undefined || LOCAL.has(scheme) || !URL.canParse(url)) return undefined;
  return decode(new URL(url).password) || undefined;
}

/** The parts of a URL that nobody may see: the whole, when it has a password, and what it has of passwords and keys. */
export function secretsOfUrl(url: string): string[] {
  const scheme = schemeOf(url);
  if (scheme === undefined || LOCAL.has(scheme) || !URL.canParse(url)) return [];
  const { password, searchParams } = new URL(url);
  const inParameters = [...searchParams].flatMap(([name, value]) =>
    SECRET_PARAMETER.test(name) ? [value] : [],
  );
  const parts = [decode(password), password, ...inParameters].filter((part) => part !== '');
  return parts.length === 0 ? [] : [url, ...new Set(parts)];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
