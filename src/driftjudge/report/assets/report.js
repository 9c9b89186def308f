// Starts every chart of the page and follows the reader's light or dark mode. Vega is on the page already.
(() => {
  "use strict";
  const mode = window.matchMedia("(prefers-color-scheme: dark)");

  async function draw(figure) {
    const specs = JSON.parse(figure.querySelector("script.chart").textContent);
    const theme = mode.matches ? "dark" : "light";
    const place = figure.querySelector(".live");
    figure.classList.add("drawn"); // before drawing: a hidden place has no width to measure
    try {
      // ast: expressions are interpreted, not compiled, so the page needs no right to evaluate strings.
      await window.vegaEmbed(place, specs[theme], {
        actions: false, ast: true, defaultStyle: false, mode: "vega-lite", renderer: "svg", tooltip: { theme },
      });
      // The place carries the summary for screen readers; Vega's own marks would be read out one by one.
      place.querySelector("svg").setAttribute("aria-hidden", "true");
    } catch (error) {
      figure.classList.remove("drawn"); // the still picture comes back
      throw error;
    }
  }

  function drawAll() {
    document.querySelectorAll("figure").forEach(draw);
  }

  drawAll();
  mode.addEventListener("change", drawAll);
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((details) => { details.open = true; });
  });
})();
