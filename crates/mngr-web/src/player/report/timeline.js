// When every task was at which stage, and how long stages took.
"use strict";
(() => {
  const { el, report } = mngr;
  // Stages with an agent are drawn high, waiting is drawn low: the picture is clear without colour.
  const HEIGHTS = { queued: 0.2, launching: 0.5, ready: 0.5, working: 0.86, published: 0.6, pulled: 0.6, verified: 0.2 };
  // The name of a namespace and no address, and so not spelled like one: no script may hold an address.
  const NAMESPACE = ["http", "://www.w3.org/2000/svg"].join("");
  const svg = (tag, attributes) => {
    const element = document.createElementNS(NAMESPACE, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };

  // 1, 2 or 5 times a power of ten, or of sixty: about eight of them fit.
  const step = (total) =>
    [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400]
      .map((s) => s * 1000)
      .find((s) => total / s <= 8) || 864e5;

  const picture = (rows, names, total) => {
    const height = Math.max(4, Math.min(14, Math.round(600 / rows.length)));
    const paths = names.map(() => "");
    rows.forEach(({ bars }, index) => {
      for (const [stage, from, to] of bars) {
        const high = (HEIGHTS[names[stage]] ?? 0.5) * height;
        const x = (from / total) * 1000;
        const width = Math.max(0.6, ((to - from) / total) * 1000);
        const y = index * height + (height - high) / 2;
        paths[stage] += `M${x.toFixed(2)} ${y.toFixed(2)}h${width.toFixed(2)}v${high.toFixed(2)}h${(-width).toFixed(2)}z`;
      }
    });
    const full = rows.length * height;
    const image = svg("svg", {
      viewBox: `0 0 1000 ${full}`,
      preserveAspectRatio: "none",
      class: "time-image",
      "aria-hidden": "true",
    });
    image.style.height = `${full}px`;
    for (let at = 0; at <= total; at += step(total))
      image.append(svg("path", { class: "time-tick", d: `M${(at / total) * 1000} 0v${full}` }));
    names.forEach((name, stage) => paths[stage] && image.append(svg("path", { class: `t-${name}`, d: paths[stage] })));
    return [image, height];
  };

  const axis = (total) => {
    const marks = el("div", { class: "time-axis", "aria-hidden": "true" });
    for (let at = 0; at <= total; at += step(total)) {
      const mark = el("span", {
        text: at
          ? mngr
              .duration(at)
              .replace(/\.0 s$/, " s")
              .replace(/ 0 s$/, "")
          : "0",
      });
      mark.style.left = `${(at / total) * 100}%`;
      marks.append(mark);
    }
    return marks;
  };

  const quantile = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];

  const distribution = (rows, names) => {
    const times = names.map(() => []);
    for (const { bars } of rows) for (const [stage, from, to] of bars) times[stage].push(to - from);
    const found = times.map((list, stage) => [names[stage], list.sort((a, b) => a - b)]).filter(([, list]) => list.length);
    const longest = Math.max(1, ...found.map(([, list]) => list.at(-1)));
    const bar = (list) => {
      const box = el("span", { class: "spread", "aria-hidden": "true" });
      const part = (className, from, to) => {
        const piece = el("span", { class: className });
        piece.style.left = `${(from / longest) * 100}%`;
        piece.style.width = `${Math.max(0.5, ((to - from) / longest) * 100)}%`;
        box.append(piece);
      };
      part("spread-all", list[0], list.at(-1));
      part("spread-most", quantile(list, 0.1), quantile(list, 0.9));
      part("spread-middle", quantile(list, 0.5), quantile(list, 0.5));
      return box;
    };
    return report.table(
      ["Stage", "Times", "Median", "90 %", "Longest", "Shortest to longest"],
      found.map(([name, list]) => [
        name,
        String(list.length),
        mngr.duration(quantile(list, 0.5)),
        mngr.duration(quantile(list, 0.9)),
        mngr.duration(list.at(-1)),
        bar(list),
      ]),
    );
  };

  report.timeline = () => {
    const { rows, stages } = report.data;
    const started = (task) => task.bars.find(([stage]) => stages[stage] !== "queued")?.[1];
    const shown = rows.filter((task) => started(task) !== undefined).sort((a, b) => started(a) - started(b));
    if (!shown.length) return null;
    const total = shown.reduce((most, { bars }) => bars.reduce((so, [, , to]) => Math.max(so, to), most), 1);
    const [image, height] = picture(shown, stages, total);
    const used = stages.filter((name, stage) => shown.some(({ bars }) => bars.some(([at]) => at === stage)));
    const caption = el("p", {
      class: "sum time-caption",
      text: "Each line is a task. Point at one to see which; click to open it.",
    });
    const taskAt = (event) => shown[Math.floor((event.clientY - image.getBoundingClientRect().top) / height)];
    image.addEventListener("mousemove", (event) => {
      const task = taskAt(event);
      if (!task) return;
      const sums = new Map();
      for (const [stage, from, to] of task.bars) sums.set(stages[stage], (sums.get(stages[stage]) || 0) + to - from);
      caption.textContent = mngr.clean(`${task.id}: ${[...sums].map(([name, ms]) => `${name} ${mngr.duration(ms)}`).join(", ")}`);
    });
    image.addEventListener("click", (event) => {
      const task = taskAt(event);
      if (task) location.hash = report.address(task.slug);
    });
    const rest = rows.length - shown.length;
    return report.part(
      "timeline",
      "Timeline",
      el("p", {
        class: "sum",
        text: `${mngr.count(shown.length, "task")} in ${mngr.duration(total)}${rest ? `; ${rest} had no agent` : ""}`,
      }),
      el(
        "p",
        { class: "legend" },
        used.map((name) => el("span", {}, el("span", { class: `swatch w-${name}`, "aria-hidden": "true" }), name)),
      ),
      el("div", { class: "time-frame" }, axis(total), el("div", { class: "time-box" }, image)),
      caption,
      el("h3", { class: "sub", text: "How long stages took" }),
      distribution(shown, stages),
    );
  };
})();
