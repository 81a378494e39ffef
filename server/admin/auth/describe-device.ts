type Name = readonly [name: string, pattern: RegExp];

// In this order: most browsers also name those that they descend from.
const BROWSERS: readonly Name[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\b(?:OPR|Opera)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS|Chromium|HeadlessChrome)\//],
  ['Safari', /\bVersion\/[\d.]+ .*Safari\//],
  ['curl', /^curl\//],
];

const SYSTEMS: readonly Name[] = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac(?: OS X|intosh)\b/],
  ['Linux', /\bLinux\b/],
];

/** Browser and system in words: 'Firefox on Linux'; null when neither is known. */
export function describeDevice(userAgent: string | null): string | null {
  if (userAgent === null) return null;
  const [browser, system] = [BROWSERS, SYSTEMS].map((names) => nameIn(names, userAgent));
  if (browser !== undefined && system !== undefined) return `${browser} on ${system}`;
  return browser ?? system ?? null;
}

const nameIn = (names: readonly Name[], userAgent: string): string | undefined =>
  names.find(([, pattern]) => pattern.test(userAgent))?.[0];
