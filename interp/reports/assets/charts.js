// Draws the charts from their embedded specifications, and again when width or colours change.
// Where Plotly is a file beside the page they wait for it, and say so if it is missing.
(() => {
  "use strict";
  const NARROW_PX = 620;
  const mode = () => getComputedStyle(document.body).colorScheme;
  const config = {
    displaylogo: false,
    showSendToCloud: false,
    responsive: false,
    typesetMath: false,
    modeBarButtons: [["toImage"]],
  };

  const setUp = (figure) => {
    const block = figure.querySelector("script.spec");
    if (!block) return;
    const specification = JSON.parse(block.textContent);
    const canvas = figure.querySelector(".canvas");
    let drawn = "";
    const draw = () => {
      const width = Math.floor(canvas.getBoundingClientRect().width);
      const size = width < NARROW_PX ? "narrow" : "wide";
      const state = `${mode()} ${width}`;
      if (!width || state === drawn) return;
      drawn = state;
      const { data, layout } = specification[mode()][size];
      const traces = data.map((own, index) => ({ ...specification.data[index], ...own }));
      canvas.style.height = `${layout.height}px`;
      // Plotly writes into what it is given, so it gets copies
      Plotly.react(canvas, structuredClone(traces), structuredClone({ ...layout, width }), config);
    };
    draw();
    new ResizeObserver(() => requestAnimationFrame(draw)).observe(canvas);
    document.addEventListener("interp-mode", draw);
  };
  const complain = (error) => {
    for (const canvas of document.querySelectorAll("figure.chart .canvas")) {
      canvas.removeAttribute("role");
      canvas.textContent =
        `The chart needs the file ${error.message} beside this page; the table has its numbers.`;
    }
  };
  Promise.resolve(window.plotlyLoaded).then(
    () => document.querySelectorAll("figure.chart").forEach(setUp),
    complain,
  );
})();
