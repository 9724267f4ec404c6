// The reader's choice of light or dark; without one, the page follows the system.
(() => {
  "use strict";
  const button = document.querySelector("button.mode");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const mode = () => document.body.dataset.theme || (system.matches ? "dark" : "light");
  const label = () => {
    button.textContent = mode() === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${button.textContent.toLowerCase()} colours`);
  };
  const announce = () => {
    label();
    document.dispatchEvent(new CustomEvent("interp-mode", { detail: mode() }));
  };
  button.addEventListener("click", () => {
    document.body.dataset.theme = mode() === "dark" ? "light" : "dark";
    announce();
  });
  system.addEventListener("change", announce);
  button.hidden = false;
  label();
})();
