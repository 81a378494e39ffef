import { readdir, readFile } from 'node:fs/promises';

const KIB = 1024;
const MIB = KIB * KIB;
/** Of /proc/<pid>/stat; the kernel's unit for user space, the same on every architecture that we run on. */
const TICKS_PER_SECOND = 100;

interface Stat {
  parent: number;
  cpuSeconds: number;
}

/** A process and all that descend from it. */
export async function processTree(root: number): Promise<number[]> {
  const names = await readdir('/proc');
  const parents = new Map<number, number>();
  for (const pid of names.filter((name) => /^\d+$/.test(name)).map(Number)) {
    const stat = await readStat(pid);
    if (stat !== null) parents.set(pid, stat.parent);
  }
  const tree = [root];
  for (const pid of tree) {
    for (const [child, parent] of parents) if (parent === pid) tree.push(child);
  }
  return tree;
}

/** Memory of the processes in MB; what they share is counted once (proportional set size). */
export async function memoryMb(pids: readonly number[]): Promise<number> {
  let bytes = 0;
  for (const pid of pids) {
    const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
    bytes += Number(/^Pss: +(\d+) kB/m.exec(text)?.[1] ?? 0) * KIB;
  }
  return bytes / MIB;
}

/** Processor time that the processes, and the children that they waited for, have used since they began. */
export async function cpuSeconds(pids: readonly number[]): Promise<number> {
  const stats = await Promise.all(pids.map(readStat));
  return stats.reduce((sum, stat) => sum + (stat?.cpuSeconds ?? 0), 0);
}

async function readStat(pid: number): Promise<Stat | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (text === null) return null;
  // The name in brackets may hold anything; what follows it is numbers, from the third field on.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { parent: Number(fields[1]), cpuSeconds: ticks / TICKS_PER_SECOND };
}
