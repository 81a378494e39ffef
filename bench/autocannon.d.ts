/** What the benchmarks use of autocannon, which brings no types. */
declare module 'autocannon' {
  export interface Request {
    method?: string;
    path?: string;
    headers?: Record<string, string>;
    body?: string;
    setupRequest?: (request: Request) => Request;
  }

  export interface Result {
    /** Seconds that it really took. */
    duration: number;
    errors: number;
    timeouts: number;
    '2xx': number;
    non2xx: number;
    /** Milliseconds. */
    latency: { p50: number; p99: number; max: number };
  }

  export default function autocannon(options: {
    url: string;
    connections: number;
    /** Seconds. */
    duration: number;
    requests: Request[];
  }): Promise<Result>;
}
