import { ToolError } from '../../../common/errors.js';
import type { JsonObject } from '../../../common/json/json.js';
import { MAX_FUNCTION_KEY } from '../../../common/limits.js';
import { defineFunction } from './function.js';

/** US dollars for one unit, rounded, as at the end of 2024. Pass `rates` where they matter. */
const DOLLARS: Readonly<Record<string, number>> = {
  USD: 1,
  AUD: 0.62,
  CAD: 0.7,
  CHF: 1.1,
  CNY: 0.137,
  EUR: 1.04,
  GBP: 1.25,
  INR: 0.0117,
  JPY: 0.0064,
};

const SCALES: Readonly<Record<string, number>> = {
  ones: 1,
  thousands: 1e3,
  millions: 1e6,
  billions: 1e9,
  trillions: 1e12,
};

const CURRENCY_INPUT = { type: 'string', maxLength: MAX_FUNCTION_KEY, required: true } as const;

export const financialScaleNormalize = defineFunction({
  name: 'financial_scale_normalize',
  pure: true,
  description: 'Converts an amount to another currency and scale',
  inputs: {
    value: { required: true, description: 'the amount, in ones: a number, or a text that is one' },
    source_currency: { ...CURRENCY_INPUT, description: 'its currency, such as EUR, in letters of any case' },
    target_currency: { ...CURRENCY_INPUT, description: 'the currency to convert to' },
    target_scale: {
      type: 'string',
      enum: Object.keys(SCALES),
      required: true,
      description: 'the unit of the result',
    },
    rates: {
      type: 'object',
      default: {},
      description: `US dollars for one unit of a currency; by default rounded rates of the end of 2024 for ${Object.keys(DOLLARS).join(', ')}`,
    },
  },
  output: {
    name: 'amount',
    description: 'in the target currency and scale',
    type: 'number',
    schema: { type: 'number' },
  },
  run({ value, source_currency: source, target_currency: target, target_scale: scale, rates }) {
    const amount = readNumber(value);
    const from = dollars(source, rates);
    const to = dollars(target, rates);
    const converted = toCode(source) === toCode(target) ? amount : (amount * from) / to;
    return converted / (SCALES[scale] ?? 1);
  },
});

function readNumber(value: unknown): number {
  const amount = isNumeral(value) ? Number(value) : value;
  if (typeof amount === 'number' && Number.isFinite(amount)) return amount;
  throw ToolError.nonRetryable('"value" must be a number without thousands separators, such as 1234.5');
}

function isNumeral(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_FUNCTION_KEY && /^\s*[-+]?[\d.]/.test(value);
}

/** The code of a currency as it is registered: `EUR` for `eur`. */
function toCode(currency: string): string {
  return currency.trim().toUpperCase();
}

function dollars(currency: string, rates: JsonObject): number {
  const code = toCode(currency);
  const spelled = [currency, code, code.toLowerCase()].find((name) => Object.hasOwn(rates, name));
  const given = spelled === undefined ? undefined : rates[spelled];
  const rate = given ?? (Object.hasOwn(DOLLARS, code) ? DOLLARS[code] : undefined);
  if (typeof rate === 'number' && rate > 0) return rate;
  throw ToolError.nonRetryable(
    `there is no rate for ${JSON.stringify(currency.slice(0, 20))}: ` +
      `pass it in "rates"; known are ${Object.keys(DOLLARS).join(', ')}`,
  );
}
