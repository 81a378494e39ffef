/** After fees, in USDT; null while the exchange has not reported the profit. Exact to 8 decimals. */
export function netProfit(realisedProfit: string | null, fees: string | null): string | null {
  if (realisedProfit === null) return null;
  return String(Number((Number(realisedProfit) - Number(fees ?? 0)).toFixed(8)));
}
