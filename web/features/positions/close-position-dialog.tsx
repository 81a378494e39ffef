import { Text } from '@mantine/core';
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
  onClose: () => void;
}

export default function ClosePositionDialog({ position, current, onClose }: ClosePositionDialogProps) {
  const { userId, username, token } = position;
  const { side, quantity, entryPrice, markPrice, unrealisedProfit, margin, ...shown } = current ?? position;
  const send = async () => {
    const body = { userId, token };
    const answer = await requestJson<ClosePositionAnswer>(`${positionsPath}/close`, { method: 'POST', body });
    if (!answer.success) throw new Error(answer.message);
    return answer;
  };
  return (
    <ConfirmChange
      title={`Close Position - ${token}`}
      confirmLabel="Close Position"
      pendingLabel="Closing..."
      destructive
      send={send}
      done={({ message }) => ({ title: 'Position Closed', message })}
      failed={{ title: 'Failed to Close Position' }}
      // After a failure the list may be outdated: the position may be closed nevertheless.
      refresh={[positionsPath]}
      onClose={onClose}
    >
      {({ pending }) => (
        <>
          <Text size="sm">
            Close the whole position of <strong>{username}</strong> at the market price? Its stop and target
            are cancelled, and no position is opened.
          </Text>
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
