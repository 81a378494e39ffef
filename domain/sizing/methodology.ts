import { D, toPercent, toPlain } from '../decimal.ts';
import { ATR_DECIMALS, showPrice } from '../show-price.ts';
import type { Position } from './position.ts';
import { DEFAULT_STOP_LOSS_FRACTION, MAXIMUM_PORTION } from './trading-constants.ts';

/** How a position was sized, in words with its numbers: the method's formula first, then each step in order. */
export function describeMethodology(position: Position): string[] {
  return [
    methodLine(position),
    stopLine(position),
    targetLine(position),
    entryLine(position),
    quantityLine(position),
    `What is shown is what is traded: the rounded quantity is worth ${position.quantity} USDT, takes ${position.investment} USDT of margin ` +
      `(${toPercent(position.investmentPortion)}% of the available balance) and loses ${toPercent(position.riskPercentage)}% of it at the stop loss.`,
  ];
}

function methodLine({
  method,
  availableBalance,
  hyperparameters,
  leverage,
  distanceFraction,
}: Position): string {
  const portion = String(hyperparameters.portionLimit ?? '0');
  const risk = String(hyperparameters.riskLimit ?? '0');
  const balance = `the available balance of ${availableBalance} USDT`;
  const atStake = `${toPercent(distanceFraction, 4)}% stop distance × leverage ${leverage}`;
  const byRisk = toPlain(
    D(availableBalance).times(risk).div(D(distanceFraction).times(leverage)).toDecimalPlaces(2),
  );
  const byPortion = toPlain(D(availableBalance).times(portion).toDecimalPlaces(2));
  switch (method) {
    case 'Risk Management':
      return (
        `Risk Management invests as much as loses ${toPercent(risk)}% of ${balance} at the stop loss: ` +
        `balance × risk / (${atStake}) = ${byRisk} USDT, and never more than ${toPercent(MAXIMUM_PORTION, 0)}% of it = ${byPortion} USDT.`
      );
    case 'Portfolio Allocation':
      return (
        `Portfolio Allocation invests ${toPercent(portion)}% of ${balance} = ${byPortion} USDT, scaled down until ` +
        `portion × ${atStake} is at most the risk of ${toPercent(risk)}%, which allows ${byRisk} USDT.`
      );
    case 'Technical Analysis':
      return (
        `Technical Analysis invests ${toPercent(portion)}% of ${balance} = ${byPortion} USDT; the risk follows from the ` +
        `stop loss and is capped at ${toPercent(risk)}%, which allows ${byRisk} USDT.`
      );
  }
}

function stopLine(position: Position): string {
  const { atr, hyperparameters, referencePrice, action, stopLoss, aligned, rules } = position;
  const shown = (price: string) => showPrice(price, rules.tickSize);
  const side = action === 'buy' ? 'below' : 'above';
  const distance =
    atr === null
      ? `${toPercent(DEFAULT_STOP_LOSS_FRACTION, 0)}% of the reference price, for want of an ATR,`
      : `ATR ${showPrice(atr, rules.tickSize, ATR_DECIMALS)} × ${hyperparameters.atrMultiplier} (${aligned ? 'aligned with' : 'opposed to'} the trend)`;
  return (
    `The stop loss lies ${distance} = ${shown(String(hyperparameters.stopDistance))} USDT ${side} the reference price ` +
    `${shown(referencePrice)}, rounded to the tick towards the entry: ${shown(stopLoss)}.`
  );
}

function targetLine({ hyperparameters, takeProfit, action, rules }: Position): string {
  return (
    `The take profit lies ${hyperparameters.rewardRatio} times that distance ${action === 'buy' ? 'above' : 'below'} the ` +
    `reference price, rounded to the tick towards the entry: ${showPrice(takeProfit, rules.tickSize)}.`
  );
}

function entryLine({ action, epsilon, entryPrice, rules }: Position): string {
  const shown = (price: string) => showPrice(price, rules.tickSize);
  const [done, preposition] = action === 'buy' ? ['added', 'to'] : ['subtracted', 'from'];
  return `The entry is a limit order: epsilon ${epsilon} USDT is ${done} ${preposition} the reference price, which gives ${shown(entryPrice)}.`;
}

function quantityLine({ leverage, entryPrice, assetQuantity, token, rules }: Position): string {
  return (
    `The quantity is the investment × leverage ${leverage} / entry ${showPrice(entryPrice, rules.tickSize)}, rounded down to the step ` +
    `${rules.quantityStep}: ${assetQuantity} ${token}.`
  );
}
