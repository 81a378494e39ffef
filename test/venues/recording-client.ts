/** An HTTP answer of the program. */
export interface RecordedAnswer {
  status: number;
  body: string;
  json<Body>(): Body;
}

/** Acts like a browser: keeps its cookie, and records every request with its answer, headers included. */
export interface RecordingClient {
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<RecordedAnswer>;
  signIn(username: string, password: string): Promise<void>;
  answered(): string[];
}

export function recordingClient(url: string): RecordingClient {
  const answers: string[] = [];
  let cookie = '';
  const client: RecordingClient = {
    async send(method, path, body, headers = {}) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(cookie === '' ? {} : { cookie }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const head = JSON.stringify([...response.headers]);
      answers.push(`${method} ${path.split('?')[0]}: ${response.status} ${head} ${text}`);
      cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie;
      return { status: response.status, body: text, json: <Body>() => JSON.parse(text) as Body };
    },
    async signIn(username, password) {
      const { status, body } = await client.send('POST', '/api/auth/login', { username, password });
      if (status !== 200) throw new Error(`Signing in as ${username} returned ${status}: ${body}`);
      await client.send('POST', '/api/auth/step-up', { password });
    },
    answered: () => answers,
  };
  return client;
}
