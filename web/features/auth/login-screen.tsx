import { useDocumentTitle } from '../../lib/use-document-title.ts';
import { Brand } from '../../ui/brand.tsx';
import { LoginForm } from './login-form.tsx';
import classes from './login-screen.module.css';
import { MarketingPanel } from './marketing-panel.tsx';

export function LoginScreen({ onSubmit }: { onSubmit: () => void }) {
  useDocumentTitle('Sign in');
  return (
    <main className={classes.screen}>
      <MarketingPanel />
      <div className={classes.side}>
        <div className={classes.phoneBrand}>
          <Brand />
        </div>
        <section className={classes.card} aria-labelledby="welcome">
          <h1 id="welcome" className={classes.title}>
            Welcome Back
          </h1>
          <p className={classes.subtitle}>Sign in to your account</p>
          <LoginForm onSubmit={onSubmit} />
        </section>
        <p className={classes.phonePitch}>
          Smart trading solutions: signals, a position calculator, risk management and profit optimization.
        </p>
      </div>
    </main>
  );
}
