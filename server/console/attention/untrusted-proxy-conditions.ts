import type { AttentionSource, Deps } from '#server/deps.ts';

/** A reverse proxy that `TRUST_PROXY` does not name. There is no screen for it: it is mended where the program runs. */
export function untrustedProxyConditions(deps: Pick<Deps, 'config' | 'untrustedProxies'>): AttentionSource {
  return async () =>
    deps.untrustedProxies.list().map(({ address, since }) => ({
      code: 'untrusted_proxy',
      severity: 'warning',
      since: since.toISOString(),
      text: `${address} sends X-Forwarded-For, but TRUST_PROXY does not name it: everybody behind it counts as one address. If it is your reverse proxy, set TRUST_PROXY=${[...deps.config.trustProxy, address].join(',')} and start again.`,
      link: null,
      action: null,
    }));
}
