// Making elements. Text is only ever set as text: nothing here or in another script makes markup of it.
"use strict";
window.mngr = {};
(() => {
  // el("a", {class: "x", href: "#/", text: "y", on: {click: f}}, child, ...)
  mngr.el = (tag, properties = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (value === undefined || value === null || value === false) continue;
      if (name === "text") element.textContent = mngr.clean(value);
      else if (name === "on") for (const [event, f] of Object.entries(value)) element.addEventListener(event, f);
      else if (name === "href") setAddress(element, value);
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(
      ...children
        .flat()
        .filter((child) => child !== null && child !== undefined)
        .map((child) => (typeof child === "string" ? mngr.clean(child) : child)),
    );
    return element;
  };

  // Without characters that are not seen but act: controls, and those that turn the direction of what follows.
  mngr.clean = (text) =>
    String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");

  // Addresses lead to places in this page and to files of its server, nowhere else.
  const setAddress = (element, address) => {
    if (address.startsWith("#") || address.startsWith("raw/")) element.setAttribute("href", address);
  };

  mngr.replace = (element, ...children) =>
    element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));

  mngr.duration = (ms) => {
    if (ms === null || ms === undefined) return "";
    if (ms < 1000) return `${ms} ms`;
    if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
    const minutes = Math.floor(ms / 60000);
    return minutes < 60
      ? `${minutes} min ${Math.round((ms % 60000) / 1000)} s`
      : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  };

  // 83.4 -> 1:23.4
  mngr.clock = (seconds) => {
    const rest = (seconds % 60).toFixed(1).padStart(4, "0");
    const minutes = Math.floor(seconds / 60);
    const hours = Math.floor(minutes / 60);
    return hours ? `${hours}:${String(minutes % 60).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
  };

  mngr.when = (ms) => (ms ? new Date(ms).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "");

  mngr.count = (number, thing) => `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;

  // Said to screen readers.
  mngr.say = (text) => (document.getElementById("live").textContent = text);

  const WORDS = {
    passed: "passed",
    failed: "failed",
    error: "error",
    skipped: "skipped",
    running: "running",
    unknown: "no result",
  };
  const SIGNS = { passed: "\u2713", failed: "\u2717", error: "!", skipped: "\u2013", running: "\u2026", unknown: "?" };
  // A status has a sign and a word, so that it is clear without colour.
  mngr.status = (status) =>
    mngr.el(
      "span",
      { class: `status s-${status}` },
      mngr.el("span", { class: "sign", "aria-hidden": "true", text: SIGNS[status] || "?" }),
      WORDS[status] || status,
    );

  // Text with a look. A run is text, or [text, foreground, background, flags]; see mngr-cast.
  const colour = (number) => {
    if (number < 0) return null;
    if (number < 16) return `var(--c${number})`;
    if (number >= 256) return `#${(number - 256).toString(16).padStart(6, "0")}`;
    if (number >= 232)
      return `rgb(${Array(3)
        .fill(8 + 10 * (number - 232))
        .join()})`;
    const cube = (part) => (part ? 55 + 40 * part : 0);
    const n = number - 16;
    return `rgb(${cube(Math.floor(n / 36))},${cube(Math.floor(n / 6) % 6)},${cube(n % 6)})`;
  };
  const FLAGS = [
    [1, "bold"],
    [2, "faint"],
    [4, "italic"],
    [8, "under"],
    [16, "struck"],
    [32, "blink"],
    [128, "wide"],
  ];

  mngr.run = (run) => {
    if (typeof run === "string") return document.createTextNode(mngr.clean(run));
    const [text, front, back, flags] = run;
    const span = mngr.el("span", {
      class:
        FLAGS.filter(([bit]) => flags & bit)
          .map(([, name]) => name)
          .join(" ") || null,
    });
    let [fg, bg] = [colour(front), colour(back)];
    if (flags & 64) [fg, bg] = [bg || "var(--term-bg)", fg || "var(--term-fg)"];
    if (fg) span.style.color = fg;
    if (bg) span.style.backgroundColor = bg;
    if (flags & 128) for (const c of text) span.append(mngr.el("span", { class: "cell", text: c }));
    else span.textContent = mngr.clean(text);
    return span;
  };

  mngr.plain = (runs) => runs.map((run) => (typeof run === "string" ? run : run[0])).join("");

  // Whether a text has the words; capitals matter only where there are some.
  mngr.finder = (words) => {
    const exact = words !== words.toLowerCase();
    return (text) => (exact ? text : text.toLowerCase()).indexOf(words);
  };
})();
