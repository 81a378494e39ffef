import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '#test/app/test-app.ts';

let board: TestApp;
let webFolder: string;

beforeAll(async () => {
  webFolder = mkdtempSync(join(tmpdir(), 'signal-board-web-'));
  mkdirSync(join(webFolder, 'assets'));
  writeFileSync(join(webFolder, 'index.html'), '<!doctype html><title>Signal Board</title>');
  writeFileSync(join(webFolder, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(webFolder, 'assets/index-4f2a.js'), 'export {}');
  board = await startTestApp({ webFolder });
});
afterAll(async () => {
  await board.close();
  rmSync(webFolder, { recursive: true });
});

describe('unknown paths', () => {
  // Requirements: answers-3
  test('of the API are JSON, never the page', async () => {
    for (const url of ['/api', '/api/', '/api/nothing', '/api/users/../nothing?x=1', '/hooks', '/hooks/x']) {
      const answer = await board.anonymous.get(url);
      expect(answer.statusCode, url).toBe(404);
      expect(answer.json(), url).toMatchObject({ message: 'Not found' });
    }
  });

  test('are the single page otherwise, always checked for a newer one', async () => {
    for (const url of ['/', '/signals', '/settings?userId=1', '/no/such/page', '/apiary']) {
      const answer = await board.anonymous.get(url);
      expect(answer.statusCode, url).toBe(200);
      expect(answer.headers['content-type'], url).toBe('text/html; charset=utf-8');
      expect(answer.headers['cache-control'], url).toBe('no-cache');
    }
  });
});

describe('the built frontend', () => {
  test('hashed files are kept for good, files beside the page are not', async () => {
    const hashed = await board.anonymous.get('/assets/index-4f2a.js');
    expect(hashed.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const icon = await board.anonymous.get('/favicon.svg');
    expect(icon.headers['content-type']).toContain('image/svg+xml');
    expect(icon.headers['cache-control']).toBe('no-cache');
  });

  test.each([
    '/assets/../../package.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/..%2fpackage.json',
    '/assets/.env',
  ])('nothing outside its folder is served: %s', async (url) => {
    const answer = await board.anonymous.get(url);
    expect(answer.body).not.toContain('"name"');
    expect([200, 400, 403, 404]).toContain(answer.statusCode);
  });

  test('comes compressed where the build left a compressed copy and the caller takes it', async () => {
    const zipped = gzipSync('export {}');
    writeFileSync(join(webFolder, 'assets/index-4f2a.js.gz'), zipped);
    const headers = { 'accept-encoding': 'gzip' };
    const answer = await board.anonymous.get('/assets/index-4f2a.js', { headers });
    expect(answer.headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-type': expect.stringContaining('javascript'),
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
    });
    expect(answer.rawPayload).toEqual(zipped);
    const page = await board.anonymous.get('/signals', { headers });
    expect(page.headers).not.toHaveProperty('content-encoding');
    expect(page.body).toContain('<title>Signal Board</title>');
  });

  test('says plainly when it was not built', async () => {
    const unbuilt = await startTestApp({ webFolder: join(webFolder, 'nowhere') });
    const answer = await unbuilt.anonymous.get('/');
    expect(answer.statusCode).toBe(503);
    expect(answer.body).toBe('The web pages have not been built yet. Start the program with: npm start\n');
    await unbuilt.close();
  });
});
