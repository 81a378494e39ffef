interface PositionFigures {
  entryPrice: string;
  stopLoss: string;
  takeProfit: string;
  assetQuantity: string;
  riskPercentage: string;
}

/** Amounts in USDT. The risk of the calculation is the loss at the stop as a fraction of the balance. */
export function outcomesOf(details: PositionFigures) {
  const [entry, stop, target] = [details.entryPrice, details.stopLoss, details.takeProfit].map(Number);
  const quantity = Number(details.assetQuantity);
  const loss = quantity * Math.abs((entry ?? 0) - (stop ?? 0));
  const win = quantity * Math.abs((target ?? 0) - (entry ?? 0));
  const inR = win / loss;
  return {
    loss: String(loss),
    win: String(win),
    inR: Number.isFinite(inR) ? inR.toFixed(2) : '–',
    lossShare: details.riskPercentage,
    // Without the risk, its share is not known either.
    winShare: details.riskPercentage ? String(Number(details.riskPercentage) * inR) : null,
  };
}
