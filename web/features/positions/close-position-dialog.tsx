import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import type { ClosePositionAnswer, OpenPositionView } from '#contract/positions.ts';
import { requestJson } from '../../lib/api-client.ts';
import { formatFullPrice, formatMoney, formatQuantity, formatReturn } from '../../lib/figures.ts';
import { capitalise, formatLeverage } from '../../lib/format.ts';
import { ConfirmChange } from '../../ui/confirm-change.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Profit } from '../../ui/profit.tsx';
import { positionsPath } from './positions-data.ts';

interface ClosePositionDialogProps {
  /** The position when the button was pressed. */
  position: OpenPositionView;
  /** The position now; undefined once it is closed. */
  current: OpenPositionView | undefined;
  /** How much of it to begin with. */
  percent: number;
  onClose: () => void;
}

const PARTS = [25, 50, 75, 100] as const;

export default function ClosePositionDialog(props: ClosePositionDialogProps) {
  const { position, current, onClose } = props;
  const [percent, setPercent] = useState(props.percent);
  const isAll = percent === 100;
  const { userId, username, token } = position;
  const { side, quantity, entryPrice, markPrice, unrealisedProfit, margin, ...shown } = current ?? position;
  const send = async () => {
    const body = { userId, token, percent };
    const answer = await requestJson<ClosePositionAnswer>(`${positionsPath}/close`, { method: 'POST', body });
    if (!answer.success) throw new Error(answer.message);
    return answer;
  };
  return (
    <ConfirmChange
      title={`Close Position - ${token}`}
      confirmLabel={isAll ? 'Close Position' : `Close ${percent} %`}
      pendingLabel="Closing..."
      destructive
      send={send}
      done={({ message }) => ({ title: isAll ? 'Position Closed' : 'Part Closed', message })}
      failed={{ title: 'Failed to Close Position' }}
      // After a failure the list may be outdated: the position may still have been closed.
      refresh={[positionsPath]}
      onClose={onClose}
    >
      {({ pending }) => (
        <>
          <Button.Group aria-label="How much to close">
            {PARTS.map((part) => (
              <Button
                key={part}
                flex={1}
                size="xs"
                variant={part === percent ? 'light' : 'default'}
                aria-pressed={part === percent}
                disabled={pending}
                onClick={() => setPercent(part)}
              >
                {part === 100 ? 'All' : `${part} %`}
              </Button>
            ))}
          </Button.Group>
          {isAll ? (
            <Text size="sm">
              Close the whole position of <strong>{username}</strong> at the market price? Its stop and target
              are cancelled, and no position is opened.
            </Text>
          ) : (
            <Text size="sm">
              Close {percent} % of the position of <strong>{username}</strong> at the market price, rounded
              down to the exchange's step? The rest stays open with its stop and target.
            </Text>
          )}
          <Facts
            columns={2}
            facts={[
              ['Side', capitalise(side)],
              ['Size', `${formatQuantity(quantity)} ${token}`],
              ['Entry Price', formatFullPrice(entryPrice)],
              ['Mark Price', formatFullPrice(markPrice)],
              [
                'Unrealised Profit',
                <Profit
                  key="profit"
                  amount={unrealisedProfit}
                  aside={formatReturn(unrealisedProfit, margin)}
                />,
              ],
              ['Margin', formatMoney(margin)],
              ['Exchange', shown.exchangePlatform],
              ['Leverage', formatLeverage(shown.leverage)],
            ]}
          />
          {current === undefined && !pending ? (
            <Notice look="warning" title="No longer open">
              The exchange reports this position no more. These are its last figures.
            </Notice>
          ) : null}
        </>
      )}
    </ConfirmChange>
  );
}
