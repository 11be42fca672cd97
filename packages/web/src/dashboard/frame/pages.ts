/** The pages of the navigation, in its order. */
export const pages = [
  { path: '/', name: 'overview', icon: 'M3 10.5 10 4l7 6.5M5 9v7h10V9' },
  { path: '/orders', name: 'orders', icon: 'M5 3h10v14l-2.5-1.5L10 17l-2.5-1.5L5 17zM8 7.5h4M8 11h4' },
  {
    path: '/links',
    name: 'links',
    icon: 'M8.5 11.5a3 3 0 0 0 4.2 0l3-3a3 3 0 0 0-4.2-4.2l-1 1M11.5 8.5a3 3 0 0 0-4.2 0l-3 3a3 3 0 0 0 4.2 4.2l1-1',
  },
  { path: '/month', name: 'month', icon: 'M4 5h12v12H4zM4 9h12M7 3v4M13 3v4M7.5 13h5' },
  { path: '/attention', name: 'attention', icon: 'M10 3a5 5 0 0 0-5 5v4l-1.5 2h13L15 12V8a5 5 0 0 0-5-5M8.5 17h3' },
  {
    path: '/subscriptions',
    name: 'subscriptions',
    icon: 'M4 9a6 6 0 0 1 10.5-3L16 7.5M16 4v3.5h-3.5M16 11a6 6 0 0 1-10.5 3L4 12.5M4 16v-3.5h3.5',
  },
  { path: '/deliveries', name: 'deliveries', icon: 'M17 3 9 11M17 3l-5 14-3-6-6-3z' },
  { path: '/developers', name: 'developers', icon: 'M7 6 3 10l4 4M13 6l4 4-4 4' },
  {
    path: '/team',
    name: 'team',
    icon: 'M7.5 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6M2 17v-2a5.5 4 0 0 1 11 0v2M13.5 9a2.5 2.5 0 0 0 0-5M15 11.5a4 4 0 0 1 3 4V17',
  },
  { path: '/settings', name: 'settings', icon: 'M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4' },
] as const
