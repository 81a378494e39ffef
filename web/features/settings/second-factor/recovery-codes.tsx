import { Button, Group, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { saveFile } from '../../../lib/save-file.ts';
import { CopyIcon } from '../../../ui/icon-button.tsx';
import { useCopy } from '../../../ui/use-copy.ts';
import classes from './second-factor.module.css';

interface RecoveryCodesProps {
  codes: readonly string[];
  onSaved: () => void;
}

export function RecoveryCodes({ codes, onSaved }: RecoveryCodesProps) {
  const { copied, copy } = useCopy({ title: 'Copied!', message: 'Recovery codes copied to clipboard.' });
  const text = `${codes.join('\n')}\n`;
  return (
    <Stack gap="md">
      <Text size="sm">
        The authenticator app is on. Each of these codes signs you in once without it. Keep them where you can
        reach them without your phone: they are not shown again.
      </Text>
      <ul className={classes.codes} aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code} className="mono">
            {code}
          </li>
        ))}
      </ul>
      <Group gap="sm">
        <Button variant="default" leftSection={<CopyIcon copied={copied} />} onClick={() => void copy(text)}>
          Copy
        </Button>
        <Button
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          onClick={() => saveFile(new Blob([text], { type: 'text/plain' }), FILE_NAME)}
        >
          Download
        </Button>
      </Group>
      <Group justify="flex-end">
        <Button onClick={onSaved}>I have saved them</Button>
      </Group>
    </Stack>
  );
}

const FILE_NAME = 'signal-board-recovery-codes.txt';
