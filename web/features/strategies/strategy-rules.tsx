import { Button } from '@mantine/core';
import { useState } from 'react';
import type { StrategyView } from '#contract/strategies.ts';
import { formatCount } from '../../lib/format.ts';
import { lazily } from '../../ui/lazily.tsx';
import classes from './strategies.module.css';

const StrategyRulesDialog = lazily(() => import('./strategy-rules-dialog.tsx'));

/** How old signals may be, who of the users trades first, and what the others wait for. */
export function StrategyRules({ strategy }: { strategy: StrategyView }) {
  const [isEditing, setEditing] = useState(false);
  const { processor } = strategy;
  const rules = rulesOf(strategy);
  return (
    <div className={classes.rules}>
      {rules.length === 0 ? (
        <span>All users trade at once</span>
      ) : (
        <ul aria-label={`Rules of ${processor}`}>
          {rules.map(({ name, explanation }) => (
            <li key={name} data-tip={explanation}>
              {name}
            </li>
          ))}
        </ul>
      )}
      <Button
        size="compact-xs"
        variant="subtle"
        className={classes.edit}
        aria-label={`Edit rules of ${processor}`}
        onClick={() => setEditing(true)}
      >
        Edit rules
      </Button>
      {isEditing ? <StrategyRulesDialog strategy={strategy} onClose={() => setEditing(false)} /> : null}
    </div>
  );
}

function rulesOf({ canary, maxSignalAgeSeconds, rotation }: StrategyView) {
  const rules: { name: string; explanation: string }[] = [];
  if (maxSignalAgeSeconds !== null)
    rules.push({
      name: `Signals up to ${formatCount(maxSignalAgeSeconds)} s old`,
      explanation: 'Older ones are not traded',
    });
  if (canary !== null) rules.push(ruleOfCanary(canary));
  if (rotation)
    rules.push({
      name: 'Order rotates',
      explanation: 'Users of the same trading order take turns at being first',
    });
  return rules;
}

function ruleOfCanary({ users, withinSeconds, maxSlippageBps }: NonNullable<StrategyView['canary']>) {
  const [count, seconds, bps] = [users, withinSeconds, maxSlippageBps].map(formatCount);
  const who = users === 1 ? 'user' : 'users';
  const first = `the first ${users === 1 ? 'user trades' : `${count} users trade`} alone`;
  return {
    name: `Canary: ${count} ${who}, ${seconds} s, ${bps} bps`,
    explanation: `Canary: ${first}. The others follow when the order is filled and protected within ${seconds} s and at most ${bps} bps worse than the signal; otherwise nobody else trades`,
  };
}
