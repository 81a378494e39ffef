import { openOnPaper } from '#test/exchange-on-paper.ts';
import { exchangeSuite } from '#test/exchange-suite.ts';
import { positionSuite } from '#test/exchange-suite-positions.ts';

const inProcess = () => openOnPaper('Bitget', { overHttp: false });
const overHttp = () => openOnPaper('Bitget', { overHttp: true });

exchangeSuite('Bitget', 'on the built-in paper exchange', inProcess);
exchangeSuite('Bitget', 'over HTTP', overHttp);
positionSuite('Bitget', 'on the built-in paper exchange', inProcess, { longHistory: true });
positionSuite('Bitget', 'over HTTP', overHttp);
