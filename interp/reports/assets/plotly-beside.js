// Loads Plotly from the file beside this page; charts.js waits for it.
window.plotlyLoaded = new Promise((resolve, reject) => {
  const script = document.createElement("script");
  script.src = "PLOTLY_FILE";
  script.onload = resolve;
  script.onerror = () => reject(new Error(script.getAttribute("src")));
  document.head.append(script);
});
