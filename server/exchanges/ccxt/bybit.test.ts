import { openOnPaper } from '#test/venues/exchange-on-paper.ts';
import { exchangeSuite } from '#test/venues/exchange-suite.ts';
import { positionSuite } from '#test/venues/exchange-suite-positions.ts';

const inProcess = () => openOnPaper('Bybit', { overHttp: false });
const overHttp = () => openOnPaper('Bybit', { overHttp: true });

exchangeSuite('Bybit', 'on the built-in paper exchange', inProcess);
exchangeSuite('Bybit', 'over HTTP', overHttp);
positionSuite('Bybit', 'on the built-in paper exchange', inProcess, { longHistory: true });
positionSuite('Bybit', 'over HTTP', overHttp);
