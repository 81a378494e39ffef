import type { ExchangePlatform } from '#domain/user-settings.ts';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import type { TestDatabase } from '../app/test-database.ts';
import { MATRIX_FAULTS } from './matrix-faults.ts';
import { openStage, type Stage } from './play.ts';
import { type CaseResult, runCase, type Stages } from './run-case.ts';

/** The runs of one exchange and seed: they share their control run, so they stay together. */
export interface Group {
  exchange: ExchangePlatform;
  seed: number;
  faults: string[];
}

export function groupsOf(chosen: { seeds: number[]; faults: string[]; exchanges: string[] }): Group[] {
  const faults = chosen.faults.length > 0 ? chosen.faults : MATRIX_FAULTS;
  const exchanges = EXCHANGE_PLATFORMS.filter(
    (one) => chosen.exchanges.length === 0 || chosen.exchanges.includes(one),
  );
  return chosen.seeds.flatMap((seed) => exchanges.map((exchange) => ({ exchange, seed, faults })));
}

/** A place where runs are played one after another, with databases of its own. */
export interface Lane {
  run(group: Group, tell: (result: CaseResult) => void): Promise<void>;
  close(): Promise<void>;
}

export function openLane(options: {
  createDatabase: () => Promise<TestDatabase>;
  explain?: boolean;
  /** What lanes know of each other's control runs. */
  controls?: Stages['controls'];
}): Lane {
  const { createDatabase, explain = false, controls = new Map() } = options;
  const opened: Promise<Stage>[] = [];
  const lazily = (overHttp: boolean) => {
    let stage: Promise<Stage> | null = null;
    return () => {
      stage ??= openStage({ createDatabase, overHttp });
      if (!opened.includes(stage)) opened.push(stage);
      return stage;
    };
  };
  const stages: Stages = { inProcess: lazily(false), overHttp: lazily(true), controls, explain };
  return {
    async run({ exchange, seed, faults }, tell) {
      for (const fault of faults) tell(await runCase(stages, { fault, exchange, seed }));
    },
    async close() {
      for (const stage of opened) await (await stage).close();
    },
  };
}
