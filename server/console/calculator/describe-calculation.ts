import type { Calculation } from '#contract/position-generator.ts';
import { listHyperparameters } from '#domain/sizing/hyperparameters.ts';
import { describeMethodology } from '#domain/sizing/methodology.ts';
import type { Position } from '#domain/sizing/position.ts';
import type { Config } from '#server/platform/config/config.ts';

/** A position by hand as the calculator shows it. */
export function describeCalculation(
  position: Position,
  { config, exchangePlatform }: { config: Config; exchangePlatform: string },
): Calculation {
  const {
    rules: _rules,
    hyperparameters: _values,
    calculationReason,
    calculationDetail,
    ...shown
  } = position;
  return {
    position: shown,
    hyperparameters: listHyperparameters({
      position,
      profile: 'manual',
      exchangePlatform,
      waits: {
        firstMs: config.verifyFirstMs,
        secondMs: config.verifySecondMs,
        cancelMs: config.cancelDelayMs,
      },
    }),
    calculationReason,
    calculationDetail,
    methodology: describeMethodology(position),
  };
}
