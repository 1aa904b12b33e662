// Light or dark: as the system says, until one is chosen here. The style knows only which of the two it is.

import { useState } from "preact/hooks";

const KEY = "bbprof-theme";
type Theme = "system" | "light" | "dark";

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
let chosen: Theme = stored();

function stored(): Theme {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === "light" || theme === "dark" ? theme : "system";
  } catch {
    return "system";
  }
}

function apply() {
  document.documentElement.dataset.theme = chosen !== "system" ? chosen : systemIsDark.matches ? "dark" : "light";
}

apply();
systemIsDark.addEventListener("change", apply);

function choose(theme: Theme) {
  chosen = theme;
  apply();
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // A browser that keeps nothing for pages from a disk: the choice holds until the page is closed.
  }
}

export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(chosen);
  const next: Record<Theme, Theme> = { system: "dark", dark: "light", light: "system" };
  const signs: Record<Theme, string> = { system: "◐", light: "○", dark: "●" };
  const change = () => {
    choose(next[theme]);
    setTheme(next[theme]);
  };
  return (
    <button type="button" class="theme" onClick={change} aria-label={`Colours: ${theme}; change to ${next[theme]}`} title={`Colours: ${theme}`}>
      {signs[theme]}
    </button>
  );
}
