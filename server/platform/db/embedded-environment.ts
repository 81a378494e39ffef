/** What PostgreSQL and the tools around it need; the last ones are for Windows. */
const KEPT = ['PATH', 'TMPDIR', 'LD_LIBRARY_PATH', 'PATHEXT', 'SYSTEMROOT', 'TEMP', 'TMP'];

/**
 * The environment of a program that this one starts. Everything else stays here: the environment of a process can be
 * read from outside, and this program's own holds its secrets. Without PGDATA, PGPORT and a locale, which would
 * change the server.
 */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const kept = KEPT.filter((name) => process.env[name] !== undefined);
  return { ...Object.fromEntries(kept.map((name) => [name, process.env[name]])), LC_ALL: 'C' };
}
