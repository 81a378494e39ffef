import { ApiTokensCard } from './api-tokens-card.tsx';
import { SessionsCard } from './sessions-card.tsx';

/** Everything that can act as the signed-in user: browsers and API tokens. */
export default function AccessCards() {
  return (
    <>
      <SessionsCard />
      <ApiTokensCard />
    </>
  );
}
