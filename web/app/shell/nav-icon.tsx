import {
  IconActivity,
  IconBell,
  IconCalculator,
  IconChartCandle,
  IconChartLine,
  IconCpu,
  IconHistory,
  IconHome,
  IconRoute,
  IconStack2,
  IconUsers,
  IconWallet,
  IconWebhook,
} from '@tabler/icons-react';

/** By the server's names. */
const ICONS: Readonly<Record<string, typeof IconHome>> = {
  Home: IconHome,
  Activity: IconActivity,
  Bell: IconBell,
  Stack2: IconStack2,
  Wallet: IconWallet,
  Calculator: IconCalculator,
  Users: IconUsers,
  Webhook: IconWebhook,
  Route: IconRoute,
  Cpu: IconCpu,
  ChartCandle: IconChartCandle,
  ChartLine: IconChartLine,
  History: IconHistory,
};

/** The icon of a page; its initial when a newer server names an icon that is not known here. */
export function NavIcon({ page, size = 18 }: { page: { icon: string; displayName: string }; size?: number }) {
  const Icon = ICONS[page.icon];
  return Icon ? (
    <Icon size={size} stroke={1.7} aria-hidden />
  ) : (
    <b aria-hidden>{page.displayName.slice(0, 1)}</b>
  );
}
