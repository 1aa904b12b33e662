// Light or dark: as the system says, until one is chosen here.

import { useLayoutEffect, useState } from "preact/hooks";

const KEY = "bbprof-theme";
type Theme = "system" | "light" | "dark";

function stored(): Theme {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === "light" || theme === "dark" ? theme : "system";
  } catch {
    return "system";
  }
}

export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(stored);
  useLayoutEffect(() => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // A browser that keeps nothing for pages from a disk: the choice holds until the page is closed.
    }
  }, [theme]);
  const next: Record<Theme, Theme> = { system: "dark", dark: "light", light: "system" };
  const signs: Record<Theme, string> = { system: "◐", light: "○", dark: "●" };
  return (
    <button type="button" class="theme" onClick={() => setTheme(next[theme])} aria-label={`Colours: ${theme}; change to ${next[theme]}`} title={`Colours: ${theme}`}>
      {signs[theme]}
    </button>
  );
}
