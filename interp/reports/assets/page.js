// The reader's choice of light or dark; without one, the page follows the system.
(() => {
  "use strict";
  const button = document.querySelector("button.mode");
  const isDark = () => getComputedStyle(document.body).colorScheme === "dark";
  const label = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${button.textContent.toLowerCase()} colours`);
  };
  const announce = () => {
    label();
    document.dispatchEvent(new Event("interp-mode"));
  };
  button.addEventListener("click", () => {
    document.body.dataset.theme = isDark() ? "light" : "dark";
    announce();
  });
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", announce);
  button.hidden = false;
  label();
})();
