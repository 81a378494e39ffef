import { CopyButton } from '../../ui/copy-button.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { ALERT_TEMPLATES, type AlertTemplate, messageText } from './alert-templates.ts';
import { toastCopied, toastCopyFailed } from './copy-toasts.ts';
import classes from './webhook-screen.module.css';

export function AlertTemplates() {
  return (
    <div>
      <h3>Alert Messages</h3>
      <p className={classes.note}>
        Ready for TradingView, which fills in the placeholders. Signal messages belong to the Signal Webhook
        URL, candle messages to the Price Data Webhook URL, best with the trigger Once Per Bar Close.
      </p>
      <ul className={classes.templates}>
        {ALERT_TEMPLATES.map((template) => (
          <Template key={template.name} template={template} />
        ))}
      </ul>
      <p className={classes.note}>
        ATR and trends come from the plots of the indicator that the alert is set on:{' '}
        <code>{'{{plot_0}}'}</code> is its first plot, and <code>{'{{plot("ATR")}}'}</code> the one of that
        title, written with these quotes and without backslashes. A trend plot draws 1 for up, -1 for down and
        0 for none. Without an ATR, users who size by Technical Analysis are not traded.
      </p>
    </div>
  );
}

function Template({ template }: { template: AlertTemplate }) {
  const { name, use, message } = template;
  return (
    <li className={classes.template}>
      <details>
        <summary>
          <span className={classes.templateName}>{name}</span>
          <span className={classes.templateUse}>{use}</span>
        </summary>
        <JsonView value={message} label={name} />
      </details>
      <CopyButton
        value={messageText(template)}
        label={`Copy ${name}`}
        onCopied={() => toastCopied(name)}
        onFailed={toastCopyFailed}
      />
    </li>
  );
}
