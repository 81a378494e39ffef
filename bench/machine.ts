import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

export interface Machine {
  processors: number;
  model: string;
  memoryGb: number;
  platform: string;
  node: string;
  /** Before the benchmark: what else was running. */
  load: number;
}

export const machine = (): Machine => ({
  processors: availableParallelism(),
  model: cpus()[0]?.model.trim() ?? 'unknown',
  memoryGb: Math.round(totalmem() / 1024 ** 3),
  platform: `${process.platform} ${process.arch}`,
  node: process.version,
  load: Number(loadavg()[0]?.toFixed(2)),
});

export function describeMachine({ processors, model, memoryGb, platform, node }: Machine): string {
  return `${processors} processors (${model}), ${memoryGb} GB, ${platform}, Node ${node}`;
}
