// Light or dark, and the colours that follow from it. The style sheet holds the neutrals, the payload the kinds.

export function isDark(element) {
  const chosen = element.closest("[data-theme]")?.dataset.theme;
  if (chosen === "dark" || chosen === "light") return chosen === "dark";
  const body = document.body;
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false";
  if (body.dataset.vscodeThemeKind) return body.dataset.vscodeThemeKind.includes("dark");
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function rgb(colour) {
  return [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
}

// The colour that shows behind an element; null where everything up to the page is transparent.
function colourBehind(element) {
  for (let each = element.parentElement; each; each = each.parentElement) {
    const colour = getComputedStyle(each).backgroundColor;
    if (/^rgb\(/.test(colour)) return colour;
  }
  return null;
}

export function readPalette(root, kinds) {
  const dark = isDark(root);
  root.toggleAttribute("data-dark", dark);
  const behind = colourBehind(root);
  if (behind) root.style.setProperty("--gp-surface", behind);
  const style = getComputedStyle(root);
  const neutral = (name) => style.getPropertyValue(`--gp-${name}`).trim();
  return {
    dark,
    ink: neutral("ink"),
    muted: neutral("muted"),
    line: neutral("line"),
    lane: neutral("lane"),
    surface: neutral("surface"),
    accent: neutral("accent"),
    limit: neutral("limit"),
    font: `11px ${style.fontFamily}`,
    kinds: kinds.map((kind) => {
      const fill = dark ? kind.dark : kind.light;
      return { fill, ink: dark ? kind.dark_ink : kind.light_ink, rgb: rgb(fill) };
    }),
  };
}

// Calls back whenever the theme may have changed; returns the function that stops it.
export function watchTheme(root, changed) {
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", changed);
  const observer = new MutationObserver(changed);
  const attributeFilter = ["data-theme", "data-jp-theme-light", "data-vscode-theme-kind", "class"];
  for (const element of [document.documentElement, document.body]) observer.observe(element, { attributeFilter });
  return () => {
    media.removeEventListener("change", changed);
    observer.disconnect();
  };
}
