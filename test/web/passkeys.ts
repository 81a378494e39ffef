import { vi } from 'vitest';

/** A browser with one passkey, whose dialog the user accepts unless the test says otherwise. */
export function stubPasskeys(): { refuse: () => void; accept: () => void } {
  let accepts = true;
  const bytes = () => new Uint8Array([1]).buffer;
  const credential = {
    id: 'AQ',
    rawId: bytes(),
    type: 'public-key',
    authenticatorAttachment: 'platform',
    getClientExtensionResults: () => ({}),
    response: {
      clientDataJSON: bytes(),
      attestationObject: bytes(),
      authenticatorData: bytes(),
      signature: bytes(),
      userHandle: null,
      getTransports: () => ['internal'],
    },
  };
  const answer = async () => {
    if (!accepts) throw new DOMException('not now', 'NotAllowedError');
    return credential;
  };
  vi.stubGlobal('PublicKeyCredential', class {});
  Object.defineProperty(navigator, 'credentials', {
    configurable: true,
    value: { get: answer, create: answer },
  });
  return {
    refuse: () => {
      accepts = false;
    },
    accept: () => {
      accepts = true;
    },
  };
}
