import { openOnPaper } from '#test/venues/exchange-on-paper.ts';
import { exchangeSuite } from '#test/venues/exchange-suite.ts';
import { positionSuite } from '#test/venues/exchange-suite-positions.ts';

const inProcess = () => openOnPaper('Bitget', { overHttp: false });
const overHttp = () => openOnPaper('Bitget', { overHttp: true });

exchangeSuite('Bitget', 'on the built-in paper exchange', inProcess);
exchangeSuite('Bitget', 'over HTTP', overHttp);
positionSuite('Bitget', 'on the built-in paper exchange', inProcess, { longHistory: true });
positionSuite('Bitget', 'over HTTP', overHttp);
