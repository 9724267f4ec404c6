// Character-position plots: hover and keys read a character, the legend filters, the numbers open
// as a table. Everything drawn is already in the page; this script only reads and marks it.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const REACH_PX = 26;
  const MAX_BYTES = 32; // of one character, byte by byte

  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const draw = (parent, name, attributes) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return parent.appendChild(element);
  };
  const incrementText = (value) => Number(value.toPrecision(4)).toString();
  const positionText = (value) => value.toFixed(2);

  // The embedded numbers with what follows from them.
  const readTrace = (figure) => {
    const trace = JSON.parse(figure.querySelector("script.trace").textContent);
    trace.positions = trace.increments.map((row) => {
      let sum = 0;
      return row.map((increment) => (sum += increment));
    });
    trace.hex = (trace.bytes.match(/../g) || []).map((pair) => pair.toUpperCase());
    trace.lang = figure.querySelector(".plots").lang;
    trace.byteClass = (byte) => parseInt(trace.byteClasses[byte], 36);
    trace.start = (index) => (index ? trace.ends[index - 1] : 0);
    trace.characterClass = (index) => parseInt(trace.characterClasses[index], 36);
    trace.position = (row, index) => (index < 0 ? 0 : trace.positions[row][trace.ends[index] - 1]);
    trace.increment = (row, index) => trace.position(row, index) - trace.position(row, index - 1);
    return trace;
  };

  const setUp = (figure) => {
    const trace = readTrace(figure);
    const plots = figure.querySelector(".plots");
    const reading = figure.querySelector(".reading");
    const spoken = figure.querySelector(".spoken");
    let current = null; // {index, row}

    const shownPlot = () =>
      [...figure.querySelectorAll(".plot")].find((plot) => plot.getClientRects().length);

    // Where a line puts its characters: fractions of the width, pixels down.
    const geometry = (line) => {
      const plot = line.parentElement;
      const start = Number(line.dataset.start);
      const tops = line.dataset.tops.split(" ").map(Number);
      const lanes = line.dataset.lanes.split(" ");
      const factors = plot.dataset.perPosition.split(" ").map(Number);
      const lanePx = Number(plot.dataset.lane);
      return {
        start,
        end: Number(line.dataset.end),
        rows: tops.length,
        lanePx,
        fontPx: Number(plot.dataset.font),
        x: (row, index) =>
          (trace.position(row, index) - trace.position(row, start - 1)) * factors[row],
        lane: (row, index) => parseInt(lanes[row][index - start], 36),
        top: (row, index) => tops[row] + parseInt(lanes[row][index - start], 36) * lanePx,
      };
    };

    // A way per class leads from under a glyph to above the same character one row below.
    const link = (line) => {
      const links = line.querySelector(".links");
      if (links.dataset.linked) return;
      links.dataset.linked = "yes";
      const place = geometry(line);
      const width = links.viewBox.baseVal.width;
      const maxLanes = Number(line.parentElement.dataset.maxLanes);
      const underTick = Math.floor(place.lanePx / 2) + 5;
      const ways = new Map();
      for (let index = place.start; index < place.end; index++) {
        let way = "";
        for (let row = 0; row < place.rows; row++) {
          const x = (place.x(row, index) * width).toFixed(1);
          const y = place.top(row, index);
          const isTick = place.lane(row, index) === maxLanes;
          if (row) way += `L${x} ${y + 1}`;
          if (row + 1 < place.rows) way += `M${x} ${y + (isTick ? underTick : place.lanePx)}`;
        }
        const name = `c${trace.characterClass(index)}`;
        ways.set(name, (ways.get(name) || "") + way);
      }
      for (const [name, d] of ways) draw(links, "path", { class: name, d });
    };

    const nearest = (line, clientX, clientY) => {
      const box = line.firstElementChild.getBoundingClientRect();
      const place = geometry(line);
      let best = null;
      for (let row = 0; row < place.rows; row++) {
        for (let index = place.start; index < place.end; index++) {
          const dx = box.left + place.x(row, index) * box.width - clientX;
          const dy = box.top + place.top(row, index) + place.lanePx / 2 - clientY;
          const distance = Math.hypot(dx, dy);
          if (distance < (best ? best.distance : REACH_PX)) best = { index, row, distance };
        }
      }
      return best;
    };

    const clear = () => {
      current = null;
      reading.hidden = true;
      figure.querySelectorAll(".mark").forEach((mark) => mark.remove());
    };

    const mark = (line, index, row) => {
      figure.querySelectorAll(".mark").forEach((old) => old.remove());
      const place = geometry(line);
      const svg = line.querySelector("svg");
      const group = draw(svg, "g", { class: "mark" });
      svg.insertBefore(group, svg.querySelector(".zero"));
      const width = trace.widths[index] * place.fontPx + 6;
      const percent = (r) => `${(100 * place.x(r, index)).toFixed(3)}%`;
      for (let r = 0; r + 1 < place.rows; r++) {
        draw(group, "line", {
          x1: percent(r),
          x2: percent(r + 1),
          y1: place.top(r, index) + place.lanePx,
          y2: place.top(r + 1, index),
        });
      }
      for (let r = 0; r < place.rows; r++) {
        draw(group, "rect", {
          x: percent(r),
          y: place.top(r, index),
          width,
          height: place.lanePx,
          rx: 4,
          transform: `translate(${-width / 2})`,
          class: r === row ? "here" : "",
        });
      }
    };

    const fill = (index, row) => {
      const name = trace.labels[trace.characterClass(index)];
      const head = make("p", { class: "what" });
      const css = `glyph c${trace.characterClass(index)}`;
      const sample = make("span", { class: css, lang: trace.lang });
      sample.textContent = trace.drawn[index];
      const label = make("span", { class: "class" });
      label.textContent = name;
      const where = make("span", { class: "row" });
      where.textContent = trace.rows[row];
      head.append(sample, label, where);

      const body = make("tbody");
      const addRow = (cells, attributes) => {
        const tr = make("tr", attributes);
        for (const cell of cells) tr.append(make("td", {}, cell));
        body.append(tr);
      };
      const first = trace.start(index);
      const end = trace.ends[index];
      const shownEnd = Math.min(end, first + MAX_BYTES);
      const position = positionText(trace.position(row, index));
      for (let byte = first; byte < shownEnd; byte++) {
        addRow([
          trace.hex[byte],
          trace.classes[trace.byteClass(byte)],
          incrementText(trace.increments[row][byte]),
          positionText(trace.positions[row][byte]),
        ]);
      }
      if (shownEnd < end) {
        const rest = trace.position(row, index) - trace.positions[row][shownEnd - 1];
        addRow(["…", `${end - shownEnd} more bytes`, incrementText(rest), position]);
      }
      if (end - first > 1) {
        const whole = incrementText(trace.increment(row, index));
        addRow(["", "character", whole, position], { class: "sum" });
      }
      const titles = make("tr");
      for (const title of ["byte", "class", "increment", "position"]) {
        titles.append(make("th", { scope: "col" }, title));
      }
      reading.replaceChildren(head, make("table", {}, make("thead", {}, titles), body));
      reading.hidden = false;
    };

    const placeReading = (line, index, row) => {
      const place = geometry(line);
      const box = line.firstElementChild.getBoundingClientRect();
      const frame = figure.getBoundingClientRect();
      const x = box.left - frame.left + place.x(row, index) * box.width;
      const y = box.top - frame.top + place.top(row, index);
      const room = frame.width - reading.offsetWidth;
      // beside the character where there is room, so that its way through the rows stays seen
      const beside = x + 56 <= room ? x + 56 : x - 56 - reading.offsetWidth;
      const left = beside >= 0 ? beside : Math.max(0, Math.min(x - 40, room));
      const below = y + place.lanePx + 10;
      const overflows = frame.top + below + reading.offsetHeight > window.innerHeight;
      const above = y - reading.offsetHeight - 10;
      reading.style.left = `${left}px`;
      reading.style.top = `${overflows && frame.top + above > 0 ? above : below}px`;
    };

    const show = (line, index, row) => {
      if (current && current.index === index && current.row === row && !reading.hidden) return;
      current = { index, row };
      mark(line, index, row);
      fill(index, row);
      placeReading(line, index, row);
    };

    const point = (event) => {
      const line = event.target.closest(".line");
      const found = line && nearest(line, event.clientX, event.clientY);
      if (found) show(line, found.index, found.row);
      else if (event.pointerType === "mouse" || event.type === "pointerdown") clear();
    };
    plots.addEventListener("pointermove", point);
    plots.addEventListener("pointerdown", point);
    plots.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse") clear();
    });

    const go = (index, row) => {
      const plot = shownPlot();
      const line = [...plot.querySelectorAll(".line")].find((each) => index < each.dataset.end);
      line.scrollIntoView({ block: "nearest" });
      show(line, index, row);
      spoken.replaceChildren(
        make("span", { lang: trace.lang }, trace.shown[index]),
        `, ${trace.labels[trace.characterClass(index)]}, ` +
          `${trace.rows[row]}: increment ${incrementText(trace.increment(row, index))}, ` +
          `position ${positionText(trace.position(row, index))}`,
      );
    };
    plots.addEventListener("keydown", (event) => {
      const last = trace.ends.length - 1;
      if (last < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
      const { index, row } = current || { index: 0, row: 0 };
      const moves = {
        ArrowRight: [index + 1, row],
        ArrowLeft: [index - 1, row],
        ArrowDown: [index, row + 1],
        ArrowUp: [index, row - 1],
        Home: [0, row],
        End: [last, row],
      };
      if (event.key === "Escape") clear();
      else if (moves[event.key]) {
        const [to, toRow] = current || event.key === "End" ? moves[event.key] : [0, 0];
        const clamp = (value, most) => Math.max(0, Math.min(value, most));
        go(clamp(to, last), clamp(toRow, trace.rows.length - 1));
      } else return;
      event.preventDefault();
    });
    plots.addEventListener("focus", () => {
      if (plots.matches(":focus-visible") && !current && trace.ends.length) go(0, 0);
    });
    plots.addEventListener("blur", clear);
    figure.addEventListener("change", clear);
    let width = plots.clientWidth;
    new ResizeObserver(() => {
      if (plots.clientWidth !== width) clear();
      width = plots.clientWidth;
    }).observe(plots);

    const lines = figure.querySelectorAll(".line");
    const seen = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) if (isIntersecting) link(target);
      },
      { rootMargin: "100%" },
    );
    lines.forEach((line) => seen.observe(line));
    window.addEventListener("beforeprint", () => lines.forEach(link));

    plots.tabIndex = 0;
    // screen readers hand arrow keys to an application, not to a group or an image
    plots.setAttribute("role", "application");
    plots.setAttribute("aria-roledescription", "character plot");
    const name = plots.getAttribute("aria-label");
    plots.setAttribute("aria-label", `${name}. The arrow keys read one character after another.`);
    figure.querySelector(".keys[hidden]").hidden = false;
    setUpLegend(figure);
    setUpNumbers(figure, trace);
  };

  const setUpLegend = (figure) => {
    const all = figure.querySelector(".legend .all");
    const buttons = [...figure.querySelectorAll(".legend [data-class]")];
    const apply = () => {
      const isOn = (button) => button.getAttribute("aria-pressed") === "true";
      for (const button of buttons) {
        figure.classList.toggle(`on${button.dataset.class}`, isOn(button));
      }
      const isFiltered = buttons.some(isOn);
      figure.classList.toggle("filtered", isFiltered);
      all.hidden = !isFiltered;
    };
    for (const button of buttons) {
      button.disabled = false;
      button.addEventListener("click", () => {
        const isPressed = button.getAttribute("aria-pressed") === "true";
        button.setAttribute("aria-pressed", String(!isPressed));
        apply();
      });
    }
    all.addEventListener("click", () => {
      buttons.forEach((button) => button.setAttribute("aria-pressed", "false"));
      apply();
      buttons[0].focus();
    });
  };

  const setUpNumbers = (figure, trace) => {
    const details = figure.querySelector(".numbers");
    const title = figure.querySelector("h3").textContent;
    details.hidden = false;
    details.addEventListener("toggle", () => {
      if (!details.open || details.querySelector("table")) return;
      details.append(downloadButton(trace), numbersTable(trace, `Numbers of ${title}`));
    });
  };

  const numbersTable = (trace, name) => {
    const head = make("tr");
    const increments = trace.rows.map((row) => `${row} increment`);
    for (const title of ["#", "character", "bytes", "class", ...increments]) {
      head.append(make("th", { scope: "col" }, title));
    }
    const bytes = (start, end) => {
      const shown = trace.hex.slice(start, Math.min(end, start + MAX_BYTES)).join(" ");
      return end - start > MAX_BYTES ? `${shown} …` : shown;
    };
    const body = make("tbody");
    trace.ends.forEach((end, index) => {
      const increment = (_, row) =>
        make("td", { class: "number" }, trace.increment(row, index).toFixed(3));
      const cells = [
        make("th", { class: "number", scope: "row" }, String(index)),
        make("th", { scope: "row" }, make("bdi", { lang: trace.lang }, trace.shown[index])),
        make("td", {}, bytes(trace.start(index), end)),
        make("td", {}, trace.labels[trace.characterClass(index)]),
        ...trace.rows.map(increment),
      ];
      body.append(make("tr", {}, ...cells));
    });
    const table = make("table", {}, make("thead", {}, head), body);
    const attributes = { class: "scroll", tabindex: "0", role: "region", "aria-label": name };
    return make("div", attributes, table);
  };

  const downloadButton = (trace) => {
    const button = make("button", { type: "button", class: "download" }, "Download as CSV");
    button.addEventListener("click", () => {
      const quote = (cell) => `"${String(cell).replaceAll('"', '""')}"`;
      const columns = trace.rows.flatMap((row) => [`${row} increment`, `${row} position`]);
      const lines = [["character", "shown", "offset", "byte", "class", ...columns].map(quote)];
      trace.ends.forEach((end, index) => {
        for (let byte = trace.start(index); byte < end; byte++) {
          const numbers = trace.rows.flatMap((_, r) => [
            trace.increments[r][byte],
            trace.positions[r][byte],
          ]);
          const name = trace.classes[trace.byteClass(byte)];
          const cells = [index, trace.shown[index], byte, trace.hex[byte], name].map(quote);
          lines.push([...cells, ...numbers]);
        }
      });
      const csv = new Blob([lines.map((line) => line.join(",")).join("\n") + "\n"], {
        type: "text/csv;charset=utf-8",
      });
      const link = make("a", { href: URL.createObjectURL(csv), download: "increments.csv" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
    return button;
  };

  for (const figure of document.querySelectorAll("figure.positions:not([data-ready])")) {
    figure.dataset.ready = "yes";
    setUp(figure);
  }
})();
