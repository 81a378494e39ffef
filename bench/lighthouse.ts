import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What is used of Lighthouse, which is no package of this project: 176 MB for one benchmark. */
export interface Lighthouse {
  audit(options: { url: string; port: number; cookie: string | null }): Promise<Audit>;
  version: string;
}

export interface Audit {
  /** 0 to 100. */
  score: number;
  /** Milliseconds, but for the layout shift, which has no unit. */
  largestContentfulPaintMs: number;
  totalBlockingTimeMs: number;
  layoutShift: number;
}

interface Report {
  finalDisplayedUrl: string;
  runtimeError?: { message: string };
  lighthouseVersion: string;
  categories: { performance?: { score: number | null } };
  audits: Record<string, { numericValue?: number } | undefined>;
}

interface Module {
  default: (url: string, flags: object, config: object) => Promise<{ lhr: Report } | undefined>;
  desktopConfig: object;
}

/** Installed anywhere above LIGHTHOUSE_FOLDER, or beside the project's own packages; null when it is not. */
export async function findLighthouse(): Promise<Lighthouse | null> {
  const folders = [process.env.LIGHTHOUSE_FOLDER, process.cwd()].filter((folder) => folder !== undefined);
  for (const folder of folders) {
    try {
      const path = createRequire(join(folder, 'package.json')).resolve('lighthouse');
      const found = createRequire(path)('../package.json') as { version: string };
      return wrap((await import(pathToFileURL(path).href)) as Module, found.version);
    } catch (error) {
      if ((error as { code?: string }).code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  return null;
}

function wrap(module: Module, version: string): Lighthouse {
  return {
    version,
    async audit({ url, port, cookie }) {
      const flags = {
        port,
        logLevel: 'silent',
        onlyCategories: ['performance'],
        ...(cookie === null ? {} : { extraHeaders: { Cookie: cookie } }),
      };
      const result = await module.default(url, flags, module.desktopConfig);
      const report = result?.lhr;
      const score = report?.categories.performance?.score ?? null;
      if (report === undefined || score === null || report.runtimeError) {
        throw new Error(
          `Lighthouse had no score for ${url}: ${report?.runtimeError?.message ?? 'no reason'}`,
        );
      }
      if (report.finalDisplayedUrl.split('?')[0] !== url) {
        throw new Error(`Lighthouse was to look at ${url} and came to ${report.finalDisplayedUrl}`);
      }
      const number = (name: string) => report.audits[name]?.numericValue ?? Number.NaN;
      return {
        score: 100 * score,
        largestContentfulPaintMs: number('largest-contentful-paint'),
        totalBlockingTimeMs: number('total-blocking-time'),
        layoutShift: number('cumulative-layout-shift'),
      };
    },
  };
}
