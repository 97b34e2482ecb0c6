"use strict";
// What every page begins with: its data, and the theme.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
if (!data.theme) {
  document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
byId("theme").addEventListener("click", () => {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
});
