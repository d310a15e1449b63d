import { type ModelPrices, priceOf } from '../common/config/model-config.js';
import type { TokenCounts } from './model.js';

/** Adds the cost to the tokens of a model, when its price is configured. */
export function addCost(usage: TokenCounts, model: string, prices: ModelPrices | undefined): TokenCounts {
  const price = prices === undefined ? undefined : priceOf(prices, model);
  if (price === undefined) return usage;
  const cost = usage.input_tokens * price.input + usage.output_tokens * price.output;
  return { ...usage, cost: roundCost(cost / 1e6) };
}

/** Adds up tokens and costs. The sum has a cost when one of them has. */
export function sumUsage(
  { input_tokens: input, output_tokens: output, cost: before }: TokenCounts,
  { input_tokens, output_tokens, cost }: TokenCounts,
): TokenCounts {
  const tokens = { input_tokens: input + input_tokens, output_tokens: output + output_tokens };
  const total = sumCosts([before, cost]);
  return total === undefined ? tokens : { ...tokens, cost: total };
}

/** Adds up costs in US dollars; undefined when there are none. */
export function sumCosts(costs: readonly (number | undefined)[]): number | undefined {
  const known = costs.filter((cost) => cost !== undefined);
  return known.length === 0 ? undefined : roundCost(known.reduce((sum, cost) => sum + cost, 0));
}

/** Drops the digits that sums of decimal numbers have by mistake: a token costs a ten-millionth of a dollar and more. */
function roundCost(cost: number): number {
  return Math.round(cost * 1e10) / 1e10;
}

/** The tokens of nothing yet. */
export const NO_TOKENS: TokenCounts = { input_tokens: 0, output_tokens: 0 };
