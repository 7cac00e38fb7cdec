// Light and dark: as the system says, until the user chooses one of them.

const KEY = "lsp-harness-theme";
const CHOICES = ["system", "light", "dark"];

export const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
};

/** Applies the theme that was chosen last. `onChange` is called whenever the page becomes light or dark. */
export function startTheme(control, onChange) {
  const apply = (choice) => {
    if (choice === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    control.textContent = `Theme: ${choice}`;
    onChange();
  };
  const stored = () => (CHOICES.includes(localStorage.getItem(KEY)) ? localStorage.getItem(KEY) : "system");
  const next = () => {
    const choice = CHOICES[(CHOICES.indexOf(stored()) + 1) % CHOICES.length];
    localStorage.setItem(KEY, choice);
    apply(choice);
  };
  control.addEventListener("click", next);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", onChange);
  apply(stored());
  return next;
}
